#pragma once

#include "engine/store/open.hpp"
#include "engine/store/store.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <shared_mutex>
#include <string>

namespace runwire {

/// The log in memory. One lock: a writer excludes readers for the length of a batch.
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
    Sequence seq{};
    std::string_view subject{};  ///< The key in `subjects_`.
    Bytes bytes{};
  };
  struct Subject {
    SubjectInfo info{};
    std::deque<Position> positions{};  ///< Of info.first and those behind it.
  };
  using Subjects = std::map<std::string, Subject, std::less<>>;
  [[nodiscard]] Status check(std::span<const Record> records) const;
  Subjects::iterator known(std::string_view name);
  void own(const Record& record);
  void keep(const Record& record);
  void trim();
  [[nodiscard]] const Kept& at(Position position) const {
    return kept_[position.value - first_.value];
  }
  [[nodiscard]] bool add(Page& page, Position position, PageBounds bounds) const;

  const MemoryOptions options_;
  const LogId log_;
  mutable std::shared_mutex mutex_;
  Position first_{1};  ///< Of kept_.front(), or of the next event.
  std::size_t bytes_ = 0;
  std::deque<Kept> kept_{};
  Subjects subjects_{};
};

}  // namespace runwire
