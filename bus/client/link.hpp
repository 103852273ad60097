#pragma once

#include "bus/client/connection.hpp"
#include "bus/zmq/socket.hpp"
#include "codec/base/clock.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>

namespace runwire::client {

/// The way to one server under all clients: sessions, requests that survive them, replies by rid.
///
/// A session is one connection of a DEALER that does not reconnect by itself, so that requests are
/// in order as long as it lives and its loss is seen. A new session says `hello` and sends again,
/// in the order of their first sending, all requests that have no reply (appends marked `again`). A
/// request without a reply on a living session is sent again too, with growing patience, since all
/// operations are idempotent. While something is owed and nothing is heard, `hello` is the ping.
///
/// Owner: one thread, checked. Bounds: Connection::outstanding_max requests. Errors: a request that
/// ran out of time answers `timed_out`, or `unavailable` where no server was ever reached.
class Link {
 public:
  /// Whose replies: a connection's own calls, its user's submits, or the client built upon it.
  enum class Channel : std::uint8_t { call, user, work };

  static Result<std::unique_ptr<Link>> open(const ConnectOptions& options);

  /// Queues and sends. `timeout` counts from now and defaults to the options'; what the operation
  /// itself may wait at the server is added.
  Result<std::uint64_t> submit(wire::Operation operation,
                               Channel channel,
                               std::optional<std::chrono::milliseconds> timeout = {});
  /// Moves everything that can move without waiting.
  Status turn();
  [[nodiscard]] std::optional<Answered> take(Channel channel);
  /// Waits for news of the server or of `others`, at most until `until`; often shorter.
  Status wait(Instant until, std::span<bus::PollItem> others = {});
  /// submit(), and its reply. An error without a body becomes the result's error.
  Result<Answered> call(wire::Operation operation);
  /// Ends the session, as if it had been lost.
  void restart();

  [[nodiscard]] const wire::HelloReply& server() const { return server_; }
  [[nodiscard]] LogId log() const { return log_; }
  [[nodiscard]] Term term() const { return term_; }
  [[nodiscard]] InstanceId client() const { return client_; }
  [[nodiscard]] bus::Context& context() { return context_; }
  [[nodiscard]] std::size_t outstanding(Channel channel) const;
  /// One more submit() would be taken.
  [[nodiscard]] bool has_room() const { return pending_.size() < Connection::outstanding_max; }
  /// A session is up whose server has answered hello: log, term and endpoints are of now.
  [[nodiscard]] bool greeted() const { return up_ && hello_rid_ == 0; }
  [[nodiscard]] Status check_here() const { return owner_.check_here("client"); }

 private:
  struct Pending {
    wire::Operation operation{};
    Channel channel{};
    Instant deadline{};
    Instant resend_at{};
    std::chrono::milliseconds patience{};
    bool sent = false;
  };
  struct Ready {
    Channel channel{};
    Answered answered{};
  };

  explicit Link(const ConnectOptions& options);
  Status open_session(Instant now);
  void on_session(Instant now);
  void watch_session(Instant now);
  void send_hello();
  void send(std::uint64_t rid, Pending& pending, Instant now);
  bool transmit(std::uint64_t rid, const wire::Operation& operation);
  Status receive_all(Instant now);
  void on_reply(bus::Message& message);
  void on_hello(const wire::Reply& reply);
  void watch_requests(Instant now);
  void expire(std::uint64_t rid, const Pending& pending);
  std::optional<Answered> take_rid(std::uint64_t rid);

  ConnectOptions options_;
  bus::ThreadOwner owner_{};
  bus::Context context_{};
  std::optional<bus::Socket> socket_{};
  InstanceId client_{};
  std::map<std::uint64_t, Pending> pending_{};  ///< By rid, which is the order of submitting.
  std::deque<Ready> ready_{};
  std::uint64_t next_rid_ = 1;
  std::uint64_t hello_rid_ = 0;  ///< Of a hello without its reply; 0: none.
  bool up_ = false;
  bool greeted_ = false;              ///< Some server has answered hello at least once.
  std::optional<Error> unwelcome_{};  ///< How hello was refused, before it was ever answered.
  Instant give_up_at_{};
  Instant heard_at_{};
  Instant watch_at_{};
  std::chrono::milliseconds backoff_;
  wire::HelloReply server_{};
  LogId log_{};
  Term term_{};
};

}  // namespace runwire::client
