#pragma once

#include "bus/source/counters.hpp"
#include "bus/source/framing.hpp"
#include "bus/zmq/socket.hpp"
#include "codec/base/clock.hpp"
#include "codec/base/result.hpp"
#include "engine/ports.hpp"

#include <cstddef>
#include <deque>
#include <string>
#include <utility>

namespace runwire::bus {

/// One attach of a required observer: an endpoint of its own, since one PUSH shares its messages
/// among all peers, and a zombie must never take what its successor is owed.
///
/// Owner: the live thread. Bound: what the engine hands over, which it bounds by its in-flight
/// bounds; what ZeroMQ does not take yet waits here.
class Consumer {
 public:
  static Result<Consumer> open(Context& context,
                               const std::string& endpoint,
                               const LogIdentity& identity,
                               Attachment attachment);

  /// In order. A delivery that starts at or before what still waits replaces it: it is the same
  /// events, sent again from the log.
  void deliver(ObserverDelivery&& delivery, ObserverCounters& counters);
  /// Sends what ZeroMQ takes, and a heartbeat where nothing was sent for its time.
  std::size_t turn(Instant now, ObserverCounters& counters);
  /// Another attach holds the name. False: nobody is there to be told, or its queue is full.
  bool tell_fenced(Epoch current);
  /// An ack under this attach's epoch was heard.
  void heard(Position acked);

  [[nodiscard]] const Attachment& attachment() const { return attachment_; }
  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }
  [[nodiscard]] const Socket& socket() const { return socket_; }
  [[nodiscard]] bool waits() const { return !waiting_.empty(); }
  [[nodiscard]] Instant next_due() const { return heartbeat_at_; }

 private:
  struct Waiting {
    Position first{};
    Position last{};
    Message message{};
  };

  Consumer(Socket socket, std::string endpoint, const LogIdentity& identity, Attachment attachment)
      : socket_(std::move(socket)),
        endpoint_(std::move(endpoint)),
        identity_(identity),
        attachment_(std::move(attachment)) {}

  [[nodiscard]] wire::Delivery header(wire::Delivery::Kind kind) const;
  bool send_one(wire::Delivery&& delivery);

  Socket socket_;
  std::string endpoint_;
  LogIdentity identity_;
  Attachment attachment_;
  Position sent_{};
  Instant heartbeat_at_{};
  std::deque<Waiting> waiting_{};
};

}  // namespace runwire::bus
