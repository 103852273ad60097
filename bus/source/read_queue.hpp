#pragma once

#include "bus/source/origin.hpp"
#include "bus/zmq/socket.hpp"
#include "codec/base/clock.hpp"
#include "codec/base/limits.hpp"
#include "codec/base/result.hpp"
#include "codec/wire/messages.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <optional>

namespace runwire::bus {

/// A read that has not been answered.
struct PendingRead {
  Origin origin{};
  wire::Read read{};
  Instant deadline{};  ///< An empty page is not sent before; in the past where it does not wait.
};

/// Reads that are ready to be served, fairly: a queue for each client, one page a turn of the ring,
/// so that a client that replays everything does not hold up one that asks for a page.
///
/// Owner: the requests thread. Bounds: `pages_outstanding_max` reads a client, waiting ones
/// included
/// (`backpressure`); a client that has not taken `reply_bytes_outstanding_max` of its replies is
/// passed over until it has.
class ReadQueue {
 public:
  /// Takes a new read in; on an error it stays with the caller.
  Status add(PendingRead& pending);
  /// One that was taken and waited is ready again: it counts already.
  void ready_again(PendingRead&& pending);
  /// The next read in turn; nothing where no client has one, or none has room for its reply.
  [[nodiscard]] std::optional<PendingRead> take();
  /// The read of this client that was taken is answered.
  void answered(const InstanceId& client);

  /// What a page for this client may hold, so that its outstanding reads together fit the bound.
  [[nodiscard]] std::size_t page_bytes_max(const InstanceId& client) const;
  /// Counts the bytes of this client's replies that ZeroMQ still holds.
  [[nodiscard]] HeldBytes held(const InstanceId& client);

  [[nodiscard]] bool empty() const { return ring_.empty(); }
  [[nodiscard]] std::size_t clients() const { return clients_.size(); }
  /// Forgets clients that have nothing outstanding and nothing held.
  void sweep();

 private:
  struct Client {
    std::deque<PendingRead> ready{};
    std::size_t outstanding = 0;
    HeldBytes held = std::make_shared<std::atomic<std::size_t>>(0);
  };

  std::map<InstanceId, Client> clients_{};
  std::deque<InstanceId> ring_{};  ///< Clients with ready reads, each once.
};

}  // namespace runwire::bus
