#include "engine/store/segments/scan.hpp"

#include "engine/store/segments/batch_builder.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace runwire::segments {
namespace {

/// Walks over whole batches and looks behind the first thing that is none.
class Scanner {
 public:
  Scanner(ByteView file, std::string_view name, Scan& scan)
      : file_(file), name_(name), scan_(scan) {}

  Status run(std::uint64_t limit);

 private:
  [[nodiscard]] std::uint64_t key(std::uint64_t offset) const {
    return place_key(scan_.header.log, scan_.header.number, offset);
  }
  bool take_batch(std::uint64_t limit);
  Status take_trailer();
  void look_behind();
  [[nodiscard]] bool zero_from(std::uint64_t offset) const;

  ByteView file_;
  std::string_view name_;
  Scan& scan_;
  Position behind_{};  ///< First position of the first whole batch behind the damage, if any.
};

bool Scanner::take_batch(std::uint64_t limit) {
  const std::uint64_t offset = scan_.end;
  const auto header = decode_batch_header(file_.subspan(offset), key(offset));
  if (!header || header->first != next(scan_.last)) return false;
  if (offset + header->bytes() > limit) return false;
  if (!body_intact(
          *header, file_.subspan(offset + batch_header_bytes, header->body_bytes), key(offset))) {
    return false;
  }
  scan_.chain = chain_next(scan_.chain, file_.subspan(offset));
  scan_.batches.push_back({.header = *header, .offset = offset});
  scan_.end = offset + header->bytes();
  scan_.last = header->last;
  scan_.term = std::max(scan_.term, header->term);
  scan_.proven = std::max(scan_.proven, header->synced_bytes);
  return true;
}

Status Scanner::take_trailer() {
  const auto trailer = decode_trailer(file_.subspan(scan_.end), key(scan_.end));
  if (!trailer) return {};
  if (trailer->bytes != scan_.end || trailer->check != scan_.chain ||
      trailer->batches != scan_.batches.size() || trailer->last != scan_.last) {
    return damaged(
        name_, scan_.end, next(scan_.header.base), trailer->last, "its seal does not match");
  }
  scan_.sealed = true;
  scan_.proven = scan_.end;
  return {};
}

bool Scanner::zero_from(std::uint64_t offset) const {
  return std::ranges::all_of(file_.subspan(offset, alignment),
                             [](std::byte byte) { return byte == std::byte{0}; });
}

void Scanner::look_behind() {
  constexpr std::uint64_t page = 4096;
  static constexpr std::byte empty[page]{};
  std::uint64_t used = scan_.end;
  for (std::uint64_t at = scan_.end; at + alignment <= file_.size();) {
    if (at % page == 0 && at + page <= file_.size() &&
        std::memcmp(file_.data() + at, empty, page) == 0) {
      at += page;
      continue;
    }
    if (!zero_from(at)) {
      used = at + alignment;
      if (const auto header = decode_batch_header(file_.subspan(at), key(at))) {
        scan_.proven = std::max(scan_.proven, header->synced_bytes);
        if (behind_ == Position{}) behind_ = header->first;
      }
      if (decode_trailer(file_.subspan(at), key(at))) scan_.proven = std::max(scan_.proven, at);
    }
    at += alignment;
  }
  for (std::uint64_t at = file_.size() / alignment * alignment; at < file_.size(); ++at) {
    if (at >= scan_.end && file_[at] != std::byte{0}) used = at + 1;
  }
  scan_.tail_bytes = used - scan_.end;
}

Status Scanner::run(std::uint64_t limit) {
  while (scan_.end < limit && take_batch(limit)) {
  }
  if (auto status = take_trailer(); !status) return status;
  if (scan_.sealed || (scan_.end == limit && limit < file_.size())) return {};
  look_behind();
  if (scan_.end >= scan_.proven) return {};
  const Position first = next(scan_.last);
  const Position last = behind_ > first ? Position{behind_.value - 1} : first;
  return damaged(name_, scan_.end, first, last, "damage below what was synced");
}

}  // namespace

std::unexpected<Error> damaged(std::string_view name,
                               std::uint64_t offset,
                               Position first,
                               Position last,
                               std::string_view what) {
  return fail(Error{ErrorCode::corrupt, std::string(name) + ": " + std::string(what), {}}
                  .with("file", name)
                  .with("offset", offset)
                  .with("first", first.value)
                  .with("last", last.value));
}

Result<SegmentHeader> read_header(ByteView file, std::string_view name) {
  auto header = decode_segment_header(file);
  if (!header && header.error() == ErrorCode::unsupported) {
    return fail(Error{
        ErrorCode::unsupported, std::string(name) + ": written by a newer version of runwire", {}}
                    .with("file", name)
                    .with("found", claimed_version(file))
                    .with("known", format_version));
  }
  if (!header) return damaged(name, 0, {}, {}, "not a segment, or its header is damaged");
  if (segment_name(header->number) != name) {
    return damaged(name, 0, {}, {}, "the header has another number");
  }
  return *header;
}

Result<Scan> scan_segment(ByteView file, std::string_view name, std::optional<std::uint64_t> cut) {
  auto header = read_header(file, name);
  if (!header) return fail(std::move(header.error()));
  Scan scan{.header = *header, .last = header->base, .term = header->term};
  scan.chain = chain_start(file);
  // What the next segment counts on was synced before that segment had its name.
  scan.proven = cut.value_or(scan.proven);
  const std::uint64_t limit = std::min<std::uint64_t>(file.size(), cut.value_or(file.size()));
  if (auto status = Scanner(file, name, scan).run(limit); !status) {
    return fail(std::move(status.error()));
  }
  if (cut && scan.end != *cut) {
    return damaged(
        name, scan.end, next(scan.last), next(scan.last), "the next says another length");
  }
  return scan;
}

Status for_each_record(const BatchHeader& header, ByteView body, const RecordSink& sink) {
  std::uint64_t offset = 0;
  Position position{header.first.value - 1};
  for (std::uint32_t left = header.records; left > 0; --left) {
    const auto record = decode_record(body.subspan(std::min<std::uint64_t>(offset, body.size())));
    if (!record) return fail(record.error(), "a record of an intact batch cannot be read");
    if (record->kind == RecordKind::event) position = next(position);
    if (record->position != position) return fail(ErrorCode::corrupt, "a record out of its place");
    sink(*record, offset);
    offset += padded(record->length);
  }
  if (offset != body.size() || position != header.last) {
    return fail(ErrorCode::corrupt, "a batch and its records do not agree");
  }
  return {};
}

}  // namespace runwire::segments
