#include "engine/store/segments/segments_store.hpp"

#include "codec/base/check.hpp"
#include "engine/store/disk.hpp"

#include <utility>

namespace runwire {
namespace segments {

SegmentsStore::SegmentsStore(std::unique_ptr<Disk> own_disk,
                             Disk& disk,
                             std::unique_ptr<Disk::Lock> lock,
                             Opened opened,
                             const SegmentsOptions& options)
    : own_disk_(std::move(own_disk)),
      disk_(disk),
      lock_(std::move(lock)),
      segment_bytes_max_(options.segment_bytes_max),
      log_(opened.log),
      term_(opened.term),
      catalogue_(std::move(opened.catalogue)),
      writer_(std::move(opened.writer)),
      checkpoint_(std::move(opened.checkpoint)),
      opened_state_(checkpoint_.state),
      report_(opened.report),
      files_(disk),
      reader_(view_, *catalogue_, files_, log_) {
  view_.start(std::move(opened.catalogued), std::move(opened.active), log_);
  view_.set_trimmed(checkpoint_.trimmed);
  worker_ = std::make_unique<CatalogueWorker>(view_, *catalogue_);
}

SegmentsStore::~SegmentsStore() {
  close();
}

void SegmentsStore::close() {
  if (failure_ || sealed_) return;
  // Says that nothing follows and that all before it is on stable storage: the next opening goes
  // on in this file. Should it fail, the next opening copies the last batch instead.
  batch_.clear();
  const Position last = view_.last();
  [[maybe_unused]] const auto written = writer_->write(
      batch_, {.flag = BatchFlag::closed, .first = next(last), .last = last, .term = term_});
}

std::unexpected<Error> SegmentsStore::failed(Error error) {
  if (error.code != ErrorCode::store_full) {
    error.code = ErrorCode::store_failed;
    failure_ = Error{ErrorCode::store_failed,
                     "the store failed before and must be opened again: " + error.message,
                     error.facts};
  }
  return fail(std::move(error));
}

BatchHeader SegmentsStore::lay_out(std::span<const Record> records) {
  batch_.clear();
  const Position before = view_.last();
  Position last = before;
  for (const Record& record : records) {
    if (record.kind == RecordKind::event) {
      check(record.position == next(last), "positions go on without a hole");
      last = record.position;
    }
    batch_.add(record, last);
  }
  return {.first = next(before), .last = last, .term = term_};
}

void SegmentsStore::take_control(std::span<const Record> records) {
  for (const Record& record : records) {
    if (record.kind == RecordKind::event) continue;
    apply({.kind = record.kind,
           .number = record.number,
           .subject = record.subject,
           .bytes = record.bytes},
          checkpoint_);
    if (record.kind == RecordKind::trim) view_.set_trimmed(checkpoint_.trimmed);
  }
}

Status SegmentsStore::append(std::span<const Record> records) {
  if (failure_) return fail(*failure_);
  if (records.empty()) return {};
  const BatchHeader header = lay_out(records);
  if (sealed_ || writer_->full_for(batch_.size())) {
    if (auto status = roll(); !status) return status;
  }
  auto offset = writer_->write(batch_, header);
  if (!offset) return failed(std::move(offset.error()));
  view_.publish(header, *offset, records, batch_.places());
  take_control(records);
  return {};
}

Status SegmentsStore::roll() {
  if (!sealed_) {
    if (auto status = writer_->seal(); !status) return failed(std::move(status.error()));
    sealed_ = true;
  }
  if (auto status = worker_->make_room(); !status) return failed(std::move(status.error()));
  const WriterState& ended = writer_->state();
  const SegmentHeader header{.log = log_,
                             .number = writer_->header().number + 1,
                             .term = term_,
                             .base = ended.last,
                             .previous_bytes = ended.end};
  auto made = SegmentWriter::create(disk_, header, {}, segment_bytes_max_);
  if (!made) return failed(std::move(made.error()));
  writer_ = std::move(*made);
  sealed_ = false;
  view_.roll(checkpoint_, std::make_shared<SegmentIndex>(header, writer_->file()));
  worker_->sealed();
  return {};
}

Result<Page> SegmentsStore::read_log(Position after, Position upto, PageBounds bounds) const {
  return reader_.read_log(after, upto, bounds);
}

Result<Page> SegmentsStore::read_subject(std::string_view subject,
                                         Sequence after,
                                         Position upto,
                                         PageBounds bounds) const {
  return reader_.read_subject(subject, after, upto, bounds);
}

Result<std::optional<SubjectInfo>> SegmentsStore::find_subject(std::string_view subject) const {
  return reader_.find_subject(subject);
}

Result<std::vector<SubjectInfo>> SegmentsStore::subjects(std::string_view prefix,
                                                         std::string_view after,
                                                         std::size_t count_max,
                                                         bool open_only) const {
  return reader_.subjects(prefix, after, count_max, open_only);
}

}  // namespace segments

namespace {

Result<std::unique_ptr<Store>> open_on(std::unique_ptr<Disk> own,
                                       Disk& disk,
                                       std::string catalogue_path,
                                       const SegmentsOptions& options,
                                       IdSource& ids,
                                       const Clock& clock) {
  if (options.segment_bytes_max > std::uint64_t{1} << 31) {
    return fail(ErrorCode::invalid, "segment_bytes_max: over 2 GiB");
  }
  auto lock = disk.lock("lock");
  if (!lock) return fail(std::move(lock.error()));
  auto opened = segments::recover({.disk = disk,
                                   .catalogue_path = std::move(catalogue_path),
                                   .segment_bytes_max = options.segment_bytes_max,
                                   .ids = ids,
                                   .now = clock.wall()});
  if (!opened) return fail(std::move(opened.error()));
  return std::make_unique<segments::SegmentsStore>(
      std::move(own), disk, std::move(*lock), std::move(*opened), options);
}

}  // namespace

Result<std::unique_ptr<Store>> open_segments(const SegmentsOptions& options,
                                             IdSource& ids,
                                             const Clock& clock) {
  if (options.directory.empty()) return fail(ErrorCode::invalid, "directory: required");
  auto disk = open_disk(options.directory);
  if (!disk) return fail(std::move(disk.error()));
  Disk& borrowed = **disk;
  return open_on(
      std::move(*disk), borrowed, options.directory + "/catalogue.db", options, ids, clock);
}

Result<std::unique_ptr<Store>> open_segments_on(Disk& disk,
                                                const SegmentsOptions& options,
                                                IdSource& ids,
                                                const Clock& clock) {
  return open_on(nullptr, disk, {}, options, ids, clock);
}

}  // namespace runwire
