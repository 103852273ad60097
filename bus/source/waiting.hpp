#pragma once

#include "bus/source/read_queue.hpp"
#include "codec/base/clock.hpp"
#include "codec/base/limits.hpp"
#include "codec/base/strong.hpp"
#include "engine/engine.hpp"
#include "engine/store/store.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace runwire::bus {

/// Reads at the end of what there is, until there is news or their time is up.
///
/// Found by what is new, not by asking each: a whole-log read by its cursor, a subject's reads by
/// the subjects of the events that came since the last look (or, where fewer subjects are waited
/// for than events came, by asking the store for each of those).
///
/// Owner: the requests thread. Bound: `waiting_max`. Errors: where the log cannot be read, all are
/// woken, and each read then finds the error itself.
class WaitingReads {
 public:
  explicit WaitingReads(Positions now, std::size_t waiting_max = limits::waiting_reads_max)
      : waiting_max_(waiting_max) {
    levels_[0].seen = std::min(now.acknowledged, now.committed);
    levels_[1].seen = now.committed;
  }

  [[nodiscard]] bool full() const { return reads_.size() >= waiting_max_; }
  [[nodiscard]] std::size_t size() const { return reads_.size(); }
  /// `pending` found nothing at the positions that the last wake() was given. Pre: not full.
  void add(PendingRead&& pending);

  /// Moves those that may have news into `out`. False: there is more to look through, call again.
  bool wake(const Positions& now, const Store& store, std::vector<PendingRead>& out);
  void expire(Instant now, std::vector<PendingRead>& out);
  void take_all(std::vector<PendingRead>& out);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  using Ids = std::unordered_set<std::uint64_t>;
  struct Level {
    Position seen{};  ///< Looked through up to here.
    std::unordered_map<std::string, Ids, Hash, std::equal_to<>> subjects{};
    std::set<std::pair<std::uint64_t, std::uint64_t>> log{};  ///< (after, id)
  };
  [[nodiscard]] Level& level_of(const wire::Read& read) {
    return levels_[read.level == wire::Level::acknowledged ? 0 : 1];
  }
  bool wake_level(Level& level, Position upto, const Store& store, std::vector<PendingRead>& out);
  void ask_each(Level& level, const Store& store, std::vector<PendingRead>& out);
  bool look_through(Level& level, Position upto, const Store& store, std::vector<PendingRead>& out);
  void wake_subject(Level& level, std::string_view subject, std::vector<PendingRead>& out);
  void wake_subjects(Level& level, std::vector<PendingRead>& out);
  void take(std::uint64_t id, std::vector<PendingRead>& out);

  const std::size_t waiting_max_;
  std::uint64_t next_id_ = 1;
  std::unordered_map<std::uint64_t, PendingRead> reads_{};
  std::set<std::pair<Instant, std::uint64_t>> deadlines_{};
  std::array<Level, 2> levels_{};
};

}  // namespace runwire::bus
