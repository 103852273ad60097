#pragma once

#include "bus/source/consumer.hpp"
#include "bus/source/counters.hpp"
#include "bus/source/endpoints.hpp"
#include "bus/source/framing.hpp"
#include "bus/zmq/socket.hpp"
#include "codec/base/clock.hpp"
#include "codec/base/result.hpp"
#include "codec/wire/messages.hpp"
#include "engine/ports.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace runwire::bus {

struct AttachCommand {
  Attachment attachment{};
  Respond respond{};
};
struct DetachCommand {
  std::string observer{};
  Epoch epoch{};
};
struct FencedCommand {
  std::string observer{};
  Epoch stale{};
  Epoch current{};
};
/// What the core asks of the observers' sockets, in its order.
using ObserverCommand = std::variant<AttachCommand, ObserverDelivery, DetachCommand, FencedCommand>;

/// The sockets of the required observers: a PUSH for each attach, one PULL for all acks.
///
/// Owner: the live thread. Bounds: limits::observers_max consumers, bounds::fenced_kept_max older
/// ones of each, kept bounds::fenced_kept_for so that a zombie that wakes up is told.
class ObserverPort {
 public:
  struct World {
    LogIdentity identity{};
    Endpoints endpoints;
    std::uint64_t ack_deadline_ms = 0;
    std::uint64_t in_flight_events_max = 0;
    ObserverCounters& counters;
  };
  static Result<ObserverPort> open(Context& context, World world);

  void take(ObserverCommand&& command, Instant now);
  /// Hands acks on; at most bounds::acks_per_turn_max.
  std::size_t take_acks(const std::function<void(wire::Ack&&)>& acknowledge);
  std::size_t turn(Instant now);
  [[nodiscard]] Instant next_due(Instant otherwise) const;

  [[nodiscard]] const Socket& acks() const { return acks_; }
  [[nodiscard]] const std::string& acks_endpoint() const { return acks_endpoint_; }
  /// Sockets with something to send that was not taken.
  void add_waiting(std::vector<PollItem>& items) const;

 private:
  struct Fenced {
    Consumer consumer;
    Epoch current{};
    bool told = false;
    Instant until{};
  };

  ObserverPort(Context& context, Socket acks, std::string acks_endpoint, World world)
      : context_(&context),
        acks_(std::move(acks)),
        acks_endpoint_(std::move(acks_endpoint)),
        world_(std::move(world)) {}

  void handle(AttachCommand&& command, Instant now);
  void handle(ObserverDelivery&& delivery, Instant now);
  void handle(DetachCommand&& command, Instant now);
  void handle(FencedCommand&& command, Instant now);
  void retire(Consumer&& consumer, Epoch current, Instant now);

  Context* context_;
  Socket acks_;
  std::string acks_endpoint_;
  World world_;
  std::uint64_t attaches_ = 0;
  std::map<std::string, Consumer> consumers_{};
  std::map<std::string, std::deque<Fenced>> fenced_{};
};

}  // namespace runwire::bus
