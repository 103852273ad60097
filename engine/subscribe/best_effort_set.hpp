#pragma once

#include "codec/base/limits.hpp"
#include "engine/ports.hpp"

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace runwire {

/// Everybody who would like to hear, side by side: each gets every batch, and one that has no room
/// slows nobody.
///
/// Threads: offer() from the core; add(), remove() and dropped() from any. A member must be removed
/// before it goes; remove() returns only when no offer to it is under way. Bound: `members_max`.
class BestEffortSet final : public LiveSink {
 public:
  static constexpr std::size_t members_max = limits::subscriptions_max;

  /// False when the set is full.
  [[nodiscard]] bool add(LiveSink& member);
  void remove(LiveSink& member);
  [[nodiscard]] bool offer(LiveBatch&& batch) override;
  /// Events that members had no room for, in all.
  [[nodiscard]] std::uint64_t dropped() const;
  [[nodiscard]] std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::vector<LiveSink*> members_{};
  std::uint64_t dropped_ = 0;
};

}  // namespace runwire
