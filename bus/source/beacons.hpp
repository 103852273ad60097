#pragma once

#include "bus/source/topics.hpp"
#include "codec/base/clock.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace runwire::bus {

/// When each subscribed topic says again what its last event was: 1, 2, 4 .. 60 s after the last
/// event and then every 60 s, so that losing the last event is noticed too. Once a run has ended
/// the ladder is gone through one last time, since its terminal can be lost like any other event.
///
/// Owner: the live thread. Bound: one entry a subscribed topic; a busy topic costs one comparison
/// for each of its messages. Lifetime: forget() a topic before it goes.
class BeaconSchedule {
 public:
  /// An event was published on `topic`, or its subscription has just become active.
  void touched(Topic& topic, Instant now);
  void forget(Topic& topic);
  /// A topic whose beacon is due, scheduled again already; null when there is none.
  [[nodiscard]] Topic* take_due(Instant now);
  [[nodiscard]] std::optional<Instant> next_due() const;

 private:
  void schedule(Topic& topic, Instant due);

  std::map<std::pair<Instant, std::uint64_t>, Topic*> due_{};
};

}  // namespace runwire::bus
