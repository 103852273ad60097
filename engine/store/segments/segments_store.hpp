#pragma once

#include "engine/store/open.hpp"
#include "engine/store/segments/catalogue_worker.hpp"
#include "engine/store/segments/reader.hpp"
#include "engine/store/segments/recovery.hpp"
#include "engine/store/segments/view.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace runwire::segments {

/// The store of open.hpp: one writer over the active segment, readers over all of them.
///
/// Threads and errors: as Store. Lifetime: a borrowed disk outlives it. Bound: the index of the
/// active segment, and of the sealed ones that CatalogueWorker has not taken up.
class SegmentsStore final : public Store {
 public:
  SegmentsStore(std::unique_ptr<Disk> own_disk,
                Disk& disk,
                std::unique_ptr<Disk::Lock> lock,
                Opened opened,
                const SegmentsOptions& options);
  ~SegmentsStore() override;
  SegmentsStore(const SegmentsStore&) = delete;
  SegmentsStore& operator=(const SegmentsStore&) = delete;

  Status append(std::span<const Record> records) override;
  [[nodiscard]] LogId log_id() const override { return log_; }
  [[nodiscard]] Term term() const override { return term_; }
  [[nodiscard]] SyncMode sync_mode() const override { return SyncMode::always; }
  [[nodiscard]] Position last() const override { return view_.last(); }
  [[nodiscard]] Position earliest() const override { return next(view_.gone()); }
  [[nodiscard]] ControlState control() const override { return opened_state_; }
  [[nodiscard]] RecoveryReport recovery() const override { return report_; }
  [[nodiscard]] Result<Page> read_log(Position after,
                                      Position upto,
                                      PageBounds bounds) const override;
  [[nodiscard]] Result<Page> read_subject(std::string_view subject,
                                          Sequence after,
                                          Position upto,
                                          PageBounds bounds) const override;
  [[nodiscard]] Result<std::optional<SubjectInfo>> find_subject(
      std::string_view subject) const override;
  [[nodiscard]] Result<std::vector<SubjectInfo>> subjects(std::string_view prefix,
                                                          std::string_view after,
                                                          std::size_t count_max,
                                                          bool open_only) const override;

 private:
  Status roll();
  void close();
  /// Makes every failure but a full disk the last thing that append() ever does.
  std::unexpected<Error> failed(Error error);
  BatchHeader lay_out(std::span<const Record> records);
  void take_control(std::span<const Record> records);

  std::unique_ptr<Disk> own_disk_;
  Disk& disk_;
  std::unique_ptr<Disk::Lock> lock_;
  std::uint64_t segment_bytes_max_;
  LogId log_;
  Term term_;
  std::unique_ptr<Catalogue> catalogue_;
  std::unique_ptr<SegmentWriter> writer_;
  Checkpoint checkpoint_;
  ControlState opened_state_;
  RecoveryReport report_;
  View view_{};
  SegmentFiles files_;
  Reader reader_;
  BatchBuilder batch_{};
  bool sealed_ = false;  ///< The writer's file has its trailer; the next file is not there yet.
  std::optional<Error> failure_{};
  std::unique_ptr<CatalogueWorker> worker_{};  ///< Last: it ends before what it uses.
};

}  // namespace runwire::segments
