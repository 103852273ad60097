#include "engine/store/segments/writer.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace runwire::segments {
namespace {

// Overwriting blocks that hold zeros already saves the sync from changing the file's metadata; for
// a large batch that is not worth writing everything twice.
constexpr std::uint64_t write_ahead_bytes = std::uint64_t{512} << 10;
constexpr std::uint64_t small_batch_bytes = std::uint64_t{32} << 10;

const Bytes& zeros() {
  static const Bytes block(write_ahead_bytes);
  return block;
}

/// Lays out a new file's first bytes: the header and the batches that it is born with.
Bytes first_bytes(const SegmentHeader& header, std::span<FirstBatch> batches, WriterState& state) {
  std::uint64_t end = segment_header_bytes;
  for (const FirstBatch& batch : batches) {
    end += batch.records.size();
    state.last = batch.header.last;
    state.term = std::max(state.term, batch.header.term);
  }
  Bytes bytes(segment_header_bytes);
  bytes.reserve(end);
  encode(header, bytes.data());
  state.chain = chain_start(bytes);
  for (FirstBatch& batch : batches) {
    // All of it is on stable storage before the file has its name: so each batch may say so.
    batch.header.synced_to = state.last;
    batch.header.synced_bytes = end;
    const std::uint64_t place = place_key(header.log, header.number, bytes.size());
    const ByteView made = batch.records.finish(batch.header, place);
    state.chain = chain_next(state.chain, made);
    ++state.batches;
    append_bytes(bytes, made);
  }
  state.end = end;
  state.synced_bytes = end;
  state.synced_to = state.last;
  return bytes;
}

/// Sets aside as much as there is room for: a disk smaller than a segment is still of use, and a
/// write that finds it full is met like any other. At most 64 tries.
Status reserve_what_fits(DiskFile& file, std::uint64_t wanted, std::uint64_t least) {
  for (; wanted > least; wanted /= 2) {
    auto status = file.reserve(wanted);
    if (status || status.error().code != ErrorCode::store_full) return status;
  }
  return file.reserve(least);
}

/// Fills a draft, syncs it and gives it its name.
Status name_it(Disk& disk,
               DiskFile& file,
               std::uint64_t number,
               const Bytes& bytes,
               std::uint64_t segment_bytes_max) {
  if (auto status = reserve_what_fits(file, segment_bytes_max, bytes.size()); !status)
    return status;
  if (auto status = file.write(0, bytes); !status) return status;
  if (auto status = file.sync(); !status) {
    status.error().code = ErrorCode::store_failed;
    return status;
  }
  return disk.rename(draft_name(number), segment_name(number));
}

}  // namespace

SegmentWriter::SegmentWriter(std::shared_ptr<DiskFile> file,
                             const SegmentHeader& header,
                             const WriterState& state,
                             std::uint64_t segment_bytes_max)
    : file_(std::move(file)),
      header_(header),
      state_(state),
      segment_bytes_max_(segment_bytes_max),
      ahead_(state.end),
      dirty_(state.dirty) {}

Result<std::unique_ptr<SegmentWriter>> SegmentWriter::create(Disk& disk,
                                                             const SegmentHeader& header,
                                                             std::span<FirstBatch> batches,
                                                             std::uint64_t segment_bytes_max) {
  WriterState state{.last = header.base, .term = header.term};
  const Bytes bytes = first_bytes(header, batches, state);
  const std::string draft = draft_name(header.number);
  auto made = disk.create(draft);
  if (!made) return fail(std::move(made.error()));
  std::shared_ptr<DiskFile> file = std::move(*made);
  if (auto status = name_it(disk, *file, header.number, bytes, segment_bytes_max); !status) {
    // Nothing counts under a draft's name; with its room given back the next try may work.
    file.reset();
    [[maybe_unused]] const Status removed = disk.remove(draft);
    return fail(std::move(status.error()));
  }
  if (auto status = disk.sync_directory("segments"); !status) {
    status.error().code = ErrorCode::store_failed;
    return fail(std::move(status.error()));
  }
  return std::make_unique<SegmentWriter>(std::move(file), header, state, segment_bytes_max);
}

std::uint64_t SegmentWriter::key() const {
  return place_key(header_.log, header_.number, state_.end);
}

bool SegmentWriter::full_for(std::uint64_t bytes) const {
  return state_.batches > 0 && state_.end + bytes + trailer_bytes > segment_bytes_max_;
}

Status SegmentWriter::write_zeros(std::uint64_t from, std::uint64_t upto) {
  for (std::uint64_t at = from; at < upto;) {
    const std::uint64_t piece = std::min<std::uint64_t>(upto - at, zeros().size());
    if (auto status = file_->write(at, ByteView(zeros()).first(piece)); !status) return status;
    at += piece;
  }
  return {};
}

Status SegmentWriter::write_ahead(std::uint64_t bytes) {
  const std::uint64_t end = state_.end + bytes;
  if (auto status = write_zeros(end, dirty_); !status) return status;
  if (bytes < small_batch_bytes && end > ahead_) {
    const std::uint64_t target = std::min(end + write_ahead_bytes, segment_bytes_max_);
    auto status = write_zeros(std::max(end, dirty_), target);
    // No room for zeros may still be room for the batch.
    if (!status && status.error().code != ErrorCode::store_full) return status;
    ahead_ = std::max(ahead_, target);
  }
  ahead_ = std::max(ahead_, end);
  return {};
}

Result<std::uint64_t> SegmentWriter::write(BatchBuilder& batch, BatchHeader header) {
  header.synced_to = state_.synced_to;
  header.synced_bytes = state_.synced_bytes;
  const ByteView bytes = batch.finish(header, key());
  if (auto status = write_ahead(bytes.size()); !status) return fail(std::move(status.error()));
  if (auto status = file_->write(state_.end, bytes); !status) {
    dirty_ = std::max(dirty_, state_.end + bytes.size());
    return fail(std::move(status.error()));
  }
  if (auto status = file_->sync(); !status) {
    // Whatever the system calls it: what reached the disk is unknown.
    status.error().code = ErrorCode::store_failed;
    return fail(std::move(status.error()));
  }
  const std::uint64_t start = state_.end;
  dirty_ = 0;
  state_.end += bytes.size();
  state_.chain = chain_next(state_.chain, bytes);
  ++state_.batches;
  state_.synced_bytes = state_.end;
  state_.synced_to = header.last;
  state_.last = header.last;
  state_.term = std::max(state_.term, header.term);
  return start;
}

Status SegmentWriter::seal() {
  std::array<std::byte, trailer_bytes> bytes{};
  encode(Trailer{.batches = state_.batches,
                 .first = {header_.base.value + 1},
                 .last = state_.last,
                 .term = state_.term,
                 .bytes = state_.end,
                 .check = state_.chain},
         key(),
         bytes.data());
  const std::uint64_t end = state_.end + trailer_bytes;
  dirty_ = std::max(dirty_, end);
  // Written into the room that was set aside; only then is the rest of that room given back.
  if (auto status = file_->write(state_.end, bytes); !status) return status;
  if (auto status = file_->resize(end); !status) return status;
  ahead_ = state_.end;
  auto status = file_->sync();
  if (!status) status.error().code = ErrorCode::store_failed;
  return status;
}

}  // namespace runwire::segments
