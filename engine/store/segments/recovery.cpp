#include "engine/store/segments/recovery.hpp"

#include "engine/store/segments/loaded_file.hpp"
#include "engine/store/segments/scan.hpp"
#include "engine/store/segments/segment_list.hpp"
#include "engine/store/segments/writer_state.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace runwire::segments {
namespace {

/// Opens one log, a step at a time; the order of the steps is run().
class Recovery {
 public:
  explicit Recovery(const RecoveryInput& input) : in_(input) {}
  Result<Opened> run();

 private:
  Status open_catalogue();
  Result<bool> trust(const Catalogue::Head& head) const;
  Status take_sealed(std::uint64_t number);
  Status take_last(std::uint64_t number);
  Status resume(LoadedFile& file, const Scan& scan, std::shared_ptr<SegmentIndex> index);
  Status begin_new(const SegmentHeader& header, std::vector<FirstBatch> first);
  Status index_records(const LoadedFile& file, const Scan& scan, SegmentIndex& index);
  Status add_to_catalogue(const SegmentIndex& index, const Checkpoint& at_end);
  Result<std::vector<std::string>> look();
  Status check_base(const Scan& scan, std::string_view name);
  FirstBatch term_batch(Position last);
  std::vector<FirstBatch> copied(const LoadedFile& file, const Scan& scan, std::uint64_t from);

  const RecoveryInput& in_;
  Opened out_{};
  std::vector<std::uint64_t> numbers_{};
  SegmentHeader first_{};           ///< Of the oldest file.
  std::optional<Position> last_{};  ///< Of the segments taken so far.
};

Result<bool> Recovery::trust(const Catalogue::Head& head) const {
  if (head.segments.empty()) return true;
  // It takes up a segment only when the next one is there: a newer one in it was lost.
  const std::uint64_t newest = head.segments.back().number;
  if (newest >= numbers_.back()) {
    return damaged(
        segment_name(newest + 1), 0, next(head.segments.back().last), {}, "the file is missing");
  }
  const std::uint64_t oldest = head.segments.front().number;
  return oldest == numbers_.front() && newest - oldest + 1 == head.segments.size();
}

Status Recovery::open_catalogue() {
  const auto attempt = [this]() -> Result<bool> {
    auto catalogue = Catalogue::open(in_.catalogue_path, out_.log);
    if (!catalogue) return fail(std::move(catalogue.error()));
    auto head = (*catalogue)->head();
    if (!head) return fail(std::move(head.error()));
    auto trusted = trust(*head);
    if (!trusted) return trusted;
    out_.catalogue = std::move(*catalogue);
    out_.catalogued = std::move(head->segments);
    out_.checkpoint = std::move(head->checkpoint);
    return trusted;
  };
  auto trusted = attempt();
  if (!trusted && trusted.error().code == ErrorCode::store_full) return fail(trusted.error());
  if (!trusted && trusted.error().text("file")) return fail(trusted.error());
  const bool usable = trusted && *trusted;
  // A catalogue that knows nothing beside sealed segments was removed by somebody.
  out_.report.catalogue_rebuilt =
      !in_.catalogue_path.empty() && (!usable || (out_.catalogued.empty() && numbers_.size() > 1));
  if (usable) return {};
  out_.catalogue.reset();
  out_.catalogued.clear();
  out_.checkpoint = {};
  Catalogue::remove_files(in_.catalogue_path);
  trusted = attempt();
  if (!trusted) return fail(std::move(trusted.error()));
  return {};
}

Status Recovery::check_base(const Scan& scan, std::string_view name) {
  if (scan.header.log != out_.log) return damaged(name, 0, {}, {}, "a segment of another log");
  if (last_ && scan.header.base != *last_) {
    return damaged(name, 0, next(*last_), scan.header.base, "its positions do not go on");
  }
  last_ = scan.last;
  out_.term = std::max(out_.term, scan.term);
  return {};
}

Status Recovery::index_records(const LoadedFile& file, const Scan& scan, SegmentIndex& index) {
  for (const ScannedBatch& batch : scan.batches) {
    index.begin_batch(batch.header, batch.offset, batch.end());
    const std::uint64_t body = batch.offset + batch_header_bytes;
    const auto sink = [&](const RecordView& record, std::uint64_t offset) {
      index.add(
          record,
          {static_cast<std::uint32_t>(body + offset), static_cast<std::uint32_t>(record.length)});
      apply(record, out_.checkpoint);
    };
    auto status =
        for_each_record(batch.header, file.view().subspan(body, batch.header.body_bytes), sink);
    if (status) continue;
    if (status.error().code == ErrorCode::unsupported) return status;
    return damaged(
        file.name, batch.offset, batch.header.first, batch.header.last, status.error().message);
  }
  return {};
}

Status Recovery::add_to_catalogue(const SegmentIndex& index, const Checkpoint& at_end) {
  if (auto status = out_.catalogue->add(index, at_end); !status) return status;
  out_.catalogued.push_back(index.info());
  return {};
}

Status Recovery::take_sealed(std::uint64_t number) {
  auto file = load_segment(in_.disk, number);
  if (!file) return fail(std::move(file.error()));
  auto following = load_segment(in_.disk, number + 1, segment_header_bytes);
  if (!following) return fail(std::move(following.error()));
  auto header = read_header(following->view(), following->name);
  if (!header) return fail(std::move(header.error()));
  auto scan = scan_segment(file->view(), file->name, header->previous_bytes);
  if (!scan) return fail(std::move(scan.error()));
  if (auto status = check_base(*scan, file->name); !status) return status;
  if (!scan->sealed) {
    // The process died between naming the next file and ending this one.
    SegmentWriter writer(file->file, scan->header, state_at(*scan, file->view(), scan->end), 0);
    if (auto status = writer.seal(); !status) return status;
  }
  SegmentIndex index(scan->header, file->file);
  if (auto status = index_records(*file, *scan, index); !status) return status;
  return add_to_catalogue(index, out_.checkpoint);
}

FirstBatch Recovery::term_batch(Position last) {
  FirstBatch batch{.header = {.first = next(last), .last = last, .term = out_.term}};
  batch.records.add(Record{.kind = RecordKind::term, .number = out_.term.value, .time = in_.now},
                    last);
  return batch;
}

std::vector<FirstBatch> Recovery::copied(const LoadedFile& file,
                                         const Scan& scan,
                                         std::uint64_t from) {
  std::vector<FirstBatch> batches;
  for (const ScannedBatch& batch : scan.batches) {
    if (batch.offset < from || batch.header.records == 0) continue;
    FirstBatch& copy = batches.emplace_back();
    copy.header = {
        .first = batch.header.first, .last = batch.header.last, .term = batch.header.term};
    copy.records.add_body(
        batch.header.records,
        file.view().subspan(batch.offset + batch_header_bytes, batch.header.body_bytes));
    out_.report.events_kept_unsynced += batch.header.last.value + 1 - batch.header.first.value;
  }
  return batches;
}

Status Recovery::take_last(std::uint64_t number) {
  auto file = load_segment(in_.disk, number);
  if (!file) return fail(std::move(file.error()));
  auto scan = scan_segment(file->view(), file->name, std::nullopt);
  if (!scan) return fail(std::move(scan.error()));
  if (auto status = check_base(*scan, file->name); !status) return status;
  out_.term = next(out_.term);
  out_.report.tail_bytes_cut = scan->tail_bytes;
  std::vector<FirstBatch> first = copied(*file, *scan, scan->proven);
  // Everything that the file has is taken up once; what is copied goes into the next one's index.
  const bool fresh = scan->sealed || scan->tail_bytes > 0 || !first.empty();
  const WriterState proven = state_at(*scan, file->view(), scan->proven);
  if (fresh && proven.end != scan->proven) {
    return damaged(file->name, proven.end, next(proven.last), scan->last, "proven within a batch");
  }
  Scan kept = *scan;
  std::erase_if(kept.batches,
                [&](const ScannedBatch& batch) { return batch.offset >= scan->proven; });
  auto index = std::make_shared<SegmentIndex>(scan->header, file->file);
  if (auto status = index_records(*file, kept, *index); !status) return status;
  if (auto status = check_start(first_, out_.checkpoint); !status) return status;
  if (!fresh) return resume(*file, *scan, std::move(index));
  const Checkpoint at_end = out_.checkpoint;
  first.push_back(term_batch(scan->last));
  const SegmentHeader header{.log = out_.log,
                             .number = number + 1,
                             .term = out_.term,
                             .base = proven.last,
                             .previous_bytes = proven.end,
                             .created = in_.now};
  if (auto status = begin_new(header, std::move(first)); !status) return status;
  if (!scan->sealed) {
    SegmentWriter old(file->file, scan->header, proven, 0);
    if (auto status = old.seal(); !status) return status;
  }
  return add_to_catalogue(*index, at_end);
}

Status Recovery::resume(LoadedFile& file, const Scan& scan, std::shared_ptr<SegmentIndex> index) {
  // Over the empty batch of the close, never behind it: that its own sync worked is not known, and
  // what follows a batch that is lost is lost with it.
  WriterState state = state_at(scan, file.view(), scan.proven);
  state.dirty = scan.end;
  out_.writer =
      std::make_unique<SegmentWriter>(file.file, scan.header, state, in_.segment_bytes_max);
  out_.active = std::move(index);
  FirstBatch term = term_batch(state.last);
  auto offset = out_.writer->write(term.records, term.header);
  if (!offset) return fail(std::move(offset.error()));
  out_.active->begin_batch(term.header, *offset, out_.writer->state().end);
  return {};
}

Status Recovery::begin_new(const SegmentHeader& header, std::vector<FirstBatch> first) {
  auto made = SegmentWriter::create(in_.disk, header, first, in_.segment_bytes_max);
  if (!made) return fail(std::move(made.error()));
  out_.writer = std::move(*made);
  // Read back from what was written, by the same code as at any other opening.
  auto file = load_segment(in_.disk, header.number);
  if (!file) return fail(std::move(file.error()));
  auto scan = scan_segment(file->view(), file->name, std::nullopt);
  if (!scan) return fail(std::move(scan.error()));
  out_.active = std::make_shared<SegmentIndex>(header, out_.writer->file());
  return index_records(*file, *scan, *out_.active);
}

/// Judges the folder without writing to it, and says which drafts are in the way.
Result<std::vector<std::string>> Recovery::look() {
  auto list = list_segments(in_.disk);
  if (!list) return fail(std::move(list.error()));
  numbers_ = std::move(list->numbers);
  // The newest file is of the newest version. The oldest says whether one before it is missing.
  for (const std::uint64_t number : numbers_) {
    if (number != numbers_.front() && number != numbers_.back()) continue;
    auto file = load_segment(in_.disk, number, segment_header_bytes);
    if (!file) return fail(std::move(file.error()));
    auto header = read_header(file->view(), file->name);
    if (!header) return fail(std::move(header.error()));
    if (number == numbers_.front()) first_ = *header;
    out_.log = header->log;
  }
  return std::move(list->drafts);
}

Result<Opened> Recovery::run() {
  auto drafts = look();
  if (!drafts) return fail(std::move(drafts.error()));
  for (const std::string& draft : *drafts) {
    if (auto status = in_.disk.remove(draft); !status) return fail(std::move(status.error()));
  }
  if (numbers_.empty()) {
    out_.log = in_.ids.log_id();
    out_.term = {1};
    if (auto status = open_catalogue(); !status) return fail(std::move(status.error()));
    std::vector<FirstBatch> first;
    first.push_back(term_batch({}));
    const SegmentHeader header{.log = out_.log, .number = 1, .term = out_.term, .created = in_.now};
    if (auto status = begin_new(header, std::move(first)); !status)
      return fail(std::move(status.error()));
    return std::move(out_);
  }
  if (auto status = open_catalogue(); !status) return fail(std::move(status.error()));
  for (const SegmentInfo& known : out_.catalogued) {
    last_ = known.last;
    out_.term = std::max(out_.term, known.term);
  }
  for (const std::uint64_t number : numbers_) {
    const bool known = !out_.catalogued.empty() && number <= out_.catalogued.back().number;
    if (known) continue;
    auto status = number == numbers_.back() ? take_last(number) : take_sealed(number);
    if (!status) return fail(std::move(status.error()));
  }
  return std::move(out_);
}

}  // namespace

Result<Opened> recover(const RecoveryInput& input) {
  return Recovery(input).run();
}

}  // namespace runwire::segments
