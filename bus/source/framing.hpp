#pragma once

#include "bus/source/beacons.hpp"
#include "bus/source/topics.hpp"
#include "codec/base/bytes.hpp"
#include "codec/base/clock.hpp"
#include "codec/base/ids.hpp"
#include "codec/base/strong.hpp"
#include "codec/wire/messages.hpp"
#include "engine/ports.hpp"

#include <string>
#include <vector>

namespace runwire::bus {

/// One message for PUB. `events` is empty for a beacon and a heartbeat.
struct Outgoing {
  std::string topic{};
  Bytes header{};
  Bytes events{};
  std::size_t count = 0;
};

struct LogIdentity {
  LogId log{};
  Term term{};
};

/// Cuts one batch into messages: for each subscribed subject its own events, and the whole batch
/// for `*/`, in frames of at most limits::live_frame_bytes or one event. Topics that nobody reads
/// get nothing. Counters, last places and beacon schedules of the topics move with it.
void frame_batch(const LogIdentity& identity,
                 LiveBatch&& batch,
                 TopicTable& topics,
                 BeaconSchedule& beacons,
                 Instant now,
                 std::vector<Outgoing>& out);

/// `last` and, for a subject, its state and owner, as the topic has them.
[[nodiscard]] Outgoing frame_beacon(const LogIdentity& identity,
                                    Topic& topic,
                                    Position acknowledged);
[[nodiscard]] Outgoing frame_heartbeat(const LogIdentity& identity,
                                       Topic& topic,
                                       Position acknowledged);

}  // namespace runwire::bus
