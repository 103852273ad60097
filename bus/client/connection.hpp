#pragma once

#include "bus/zmq/socket.hpp"
#include "codec/base/result.hpp"
#include "codec/wire/messages.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace runwire::client {

struct ConnectOptions {
  std::string endpoint{};  ///< Empty: default_endpoint().
  std::string agent{"runwire-cpp"};
  std::chrono::milliseconds timeout{5'000};  ///< Of one request, retries included.
};

/// RUNWIRE_URL, else ipc://$XDG_RUNTIME_DIR/runwire/requests, else ipc:// below a directory of the
/// user's own (mode 0700).
[[nodiscard]] std::string default_endpoint();

/// A reply with its events frame; `events` is empty where there is none.
struct Answered {
  wire::Reply reply{};
  bus::Frame events{};
};

/// One DEALER to one server, for one thread: requests out, replies in, matched by `rid`.
///
/// Owner: the thread that opened it; another one gets `invalid` ("used off its thread").
/// Bound: `outstanding_max` requests. A request without a reply is sent again to a server that came
/// back (all operations are idempotent) until its timeout: `timed_out`, or `unavailable` where no
/// server was ever reached.
class Connection {
 public:
  static constexpr std::size_t outstanding_max = 1024;

  static Result<std::unique_ptr<Connection>> open(const ConnectOptions& options);
  virtual ~Connection() = default;

  /// What the server said in `hello`; asked again after a reconnect to another term.
  [[nodiscard]] virtual const wire::HelloReply& server() const = 0;
  [[nodiscard]] virtual LogId log() const = 0;
  [[nodiscard]] virtual Term term() const = 0;
  [[nodiscard]] virtual InstanceId client() const = 0;

  /// One request and its reply. A reply with an error and no body becomes that error; one with both
  /// (a partial append) comes back whole.
  virtual Result<Answered> call(wire::Operation operation) = 0;

  /// Pipelined: sends and returns its rid. `backpressure` over outstanding_max.
  virtual Result<std::uint64_t> submit(wire::Operation operation) = 0;
  /// The next reply to a submit(), in arrival order; nullopt after `timeout`.
  virtual Result<std::optional<Answered>> receive(std::chrono::milliseconds timeout) = 0;
  [[nodiscard]] virtual std::size_t outstanding() const = 0;
};

}  // namespace runwire::client
