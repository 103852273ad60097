#pragma once

#include "engine/store/segments/control.hpp"
#include "engine/store/segments/index.hpp"
#include "engine/store/store.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runwire::segments {

/// A stretch of one segment that a reader may walk. `file` is none for a catalogued segment.
struct LogPiece {
  std::uint64_t number = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  Position last{};
  std::shared_ptr<const DiskFile> file{};
};

/// Places of one subject in one segment that is not catalogued yet.
struct LiveRun {
  PlacedRun run{};
  std::shared_ptr<const DiskFile> file{};
};

/// What readers see: which segments there are, and the index of those that the catalogue has not
/// taken up. The store thread changes it after a sync; readers copy what they need out of it.
///
/// Threads: any, one mutex held for a look-up or for one batch. Bound: the catalogued segments'
/// marks (16 bytes for each 64 KiB of log) and the index of the uncatalogued ones.
class View {
 public:
  struct Live {
    std::shared_ptr<SegmentIndex> index{};
    Checkpoint at_end{};  ///< Of the control records, when the segment was sealed.
  };

  void start(std::vector<SegmentInfo> catalogued,
             std::shared_ptr<SegmentIndex> active,
             const LogId& log);
  void set_trimmed(Position trimmed);
  /// A synced batch becomes visible. Store thread.
  void publish(const BatchHeader& header,
               std::uint64_t offset,
               std::span<const Record> records,
               std::span<const Place> places);
  /// The active segment was sealed, and `next` is active. Store thread.
  void roll(const Checkpoint& at_end, std::shared_ptr<SegmentIndex> next);
  /// Sealed, not yet catalogued, oldest first.
  [[nodiscard]] std::vector<Live> uncatalogued() const;
  /// The oldest of those is in the catalogue now. The catalogue's worker.
  void catalogued(std::uint64_t number);

  [[nodiscard]] Position last() const { return {last_.load(std::memory_order_acquire)}; }
  /// Events up to here are gone.
  [[nodiscard]] Position gone() const;
  [[nodiscard]] Position trimmed() const;
  /// The first segment that the catalogue need not know. While it stands still, what was read from
  /// the catalogue and from here belongs together.
  [[nodiscard]] std::uint64_t first_live() const;
  /// Where the event after `after` is. Pre: gone() <= after < last().
  [[nodiscard]] LogPiece log_piece(Position after) const;

  struct SubjectRuns {
    std::uint64_t catalogued_before =
        0;                         ///< Segments below this number are the catalogue's to tell.
    std::uint64_t live_first = 0;  ///< Lowest sequence in `runs`; 0 where there is none.
    std::vector<LiveRun> runs{};
  };
  [[nodiscard]] SubjectRuns subject_runs(std::string_view subject,
                                         std::uint64_t after,
                                         std::size_t count_max) const;
  /// Lays what the catalogue does not know yet over `info`. False: nothing is known of the subject.
  bool overlay_subject(std::string_view subject, std::optional<SubjectInfo>& info) const;
  /// Names that are in uncatalogued segments, in order, above `after` and up to `upto` (if given).
  [[nodiscard]] std::vector<std::string> live_names(std::string_view prefix,
                                                    std::string_view after,
                                                    std::optional<std::string_view> upto,
                                                    std::size_t count_max) const;

 private:
  mutable std::mutex mutex_{};
  LogId log_{};
  std::vector<SegmentInfo> catalogued_{};
  std::vector<Live> live_{};  ///< The active one is the last.
  Position trimmed_{};
  std::atomic<std::uint64_t> last_{0};
};

}  // namespace runwire::segments
