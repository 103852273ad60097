#pragma once

#include "bus/source/beacons.hpp"
#include "bus/source/counters.hpp"
#include "bus/source/framing.hpp"
#include "bus/source/topics.hpp"
#include "bus/zmq/socket.hpp"
#include "codec/base/clock.hpp"
#include "codec/base/result.hpp"
#include "engine/engine.hpp"
#include "engine/store/store.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace runwire::bus {

/// The PUB side: topics, their beacons, the heartbeat.
///
/// Owner: the live thread. Bounds: limits::topics_max topics, limits::live_queue_messages_max
/// messages a reader; what a slow reader does not take is dropped for that reader alone.
class Publisher {
 public:
  struct World {
    LogIdentity identity{};
    const Store& store;
    LiveCounters& counters;
  };
  static Result<Publisher> open(Context& context, const std::string& endpoint, World world);

  /// Where the log stands, asked from now on; before, it stands at 0.
  void follow(std::function<Positions()> positions) { positions_ = std::move(positions); }

  void publish(LiveBatch&& batch, Instant now);
  /// New subscriptions get their beacon at once: a reader that has heard it misses nothing after
  /// it.
  std::size_t take_subscriptions(Instant now);
  /// Beacons and heartbeats whose time has come.
  std::size_t send_due(Instant now);
  [[nodiscard]] Instant next_due() const;

  [[nodiscard]] const Socket& socket() const { return socket_; }
  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }

 private:
  Publisher(Socket socket, std::string endpoint, World world)
      : socket_(std::move(socket)), endpoint_(std::move(endpoint)), world_(std::move(world)) {}

  void subscribed(std::string_view name, Instant now);
  void unsubscribed(std::string_view name);
  /// Looks up what the topic's readers may have seen so far; false where the store cannot say.
  bool look_up(Topic& topic);
  void send_beacon(Topic& topic);
  void send(Outgoing&& outgoing);

  Socket socket_;
  std::string endpoint_;
  World world_;
  std::function<Positions()> positions_{[] { return Positions{}; }};
  TopicTable topics_{};
  BeaconSchedule beacons_{};
  Instant heartbeat_at_{};
  std::vector<Outgoing> outgoing_{};
};

}  // namespace runwire::bus
