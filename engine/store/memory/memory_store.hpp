#pragma once

#include "engine/store/open.hpp"
#include "engine/store/store.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <shared_mutex>
#include <string>

namespace runwire {

/// The log in memory: each run a log of its own, oldest first out, and all of them together once
/// more. A page of the whole log ends before a hole that eviction has left; the next read says so.
///
/// Threads: as Store. One lock: a writer excludes readers for the length of a batch. Bounds:
/// MemoryOptions. Errors: `store_full` for a subject over `subjects_max`, `cursor_expired`.
class MemoryStore final : public Store {
 public:
  MemoryStore(const MemoryOptions& options, LogId log) : options_(options), log_(log) {}

  Status append(std::span<const Record> records) override;
  [[nodiscard]] LogId log_id() const override { return log_; }
  [[nodiscard]] Term term() const override { return Term{1}; }
  [[nodiscard]] SyncMode sync_mode() const override { return SyncMode::none; }
  [[nodiscard]] Position last() const override;
  [[nodiscard]] Position earliest() const override;
  [[nodiscard]] ControlState control() const override { return {}; }
  [[nodiscard]] RecoveryReport recovery() const override { return {}; }
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
  struct Kept {
    Position position{};
    Bytes bytes{};
  };
  struct Subject {
    SubjectInfo info{};
    std::deque<Kept> kept{};  ///< From info.first on, without a hole.
    std::size_t bytes = 0;
  };
  struct Place {
    Subject* subject = nullptr;
    Sequence seq{};
  };
  using Subjects = std::map<std::string, Subject, std::less<>>;
  [[nodiscard]] Status check(std::span<const Record> records) const;
  Subject& known(std::string_view name);
  void own(const Record& record);
  void keep(const Record& record);
  [[nodiscard]] bool over_its_bound(const Subject& subject) const;
  void evict_oldest(Subject& subject);
  void trim(Subject& subject);
  static bool add(Page& page, const Kept& kept, Sequence seq, PageBounds bounds);

  const MemoryOptions options_;
  const LogId log_;
  mutable std::shared_mutex mutex_;
  Position last_{};
  Position evicted_{};  ///< The highest that has gone: behind it the log has no hole.
  std::size_t bytes_ = 0;
  std::map<Position, Place> places_{};  ///< Of every event kept.
  Subjects subjects_{};                 ///< A subject never leaves: its numbers are used.
};

}  // namespace runwire
