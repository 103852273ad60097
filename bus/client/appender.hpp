#pragma once

#include "bus/client/connection.hpp"
#include "codec/base/ids.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace runwire::client {

struct AppenderOptions {
  ConnectOptions connect{};
  wire::Level level = wire::Level::committed;
  std::chrono::milliseconds deadline{30'000};  ///< An append gives up after this, over restarts.
  std::size_t in_flight_max = 64;              ///< Pipelined requests.
};

/// The end of one append: what was taken, and why the rest was not.
struct Appended {
  wire::AppendReply reply{};
  std::optional<Error>
      error{};  ///< The event at `reply.taken` was refused, or see observer_timeout.
};

/// Appends with ids made here, so that a retry over a server's death is not a second event; keeps
/// the claims that it was asked to take and renews them while it is used.
///
/// Owner: one thread. Bounds: in_flight_max requests; `backpressure` is waited out until the
/// deadline.
class Appender {
 public:
  static Result<std::unique_ptr<Appender>> open(const AppenderOptions& options);
  virtual ~Appender() = default;

  /// Drafts without an id get one. Waits for the receipt. An error here means that the outcome of
  /// nothing is known to be good (`timed_out`, `unavailable`), or that nothing was sent (`invalid`,
  /// `too_large`: over what a message holds); a refusal is in Appended::error.
  virtual Result<Appended> append(const std::string& subject, std::vector<Draft> events) = 0;
  virtual Result<Appended> append(wire::Append request) = 0;

  /// Pipelined. `done` is called from this or a later call of the same thread, and may submit().
  /// One request of a subject is under way at a time; what was submitted behind a refused one is
  /// answered `out_of_order`, and what is submitted after its `done` goes on.
  virtual Status submit(wire::Append request,
                        std::move_only_function<void(Result<Appended>)> done) = 0;
  virtual Status flush() = 0;
  /// Renews claims and takes replies for up to `time`: an appender that pauses calls this instead
  /// of sleeping.
  virtual Status idle(std::chrono::milliseconds time) = 0;

  /// Takes the run; its appends then carry the epoch. Renewed every limits::lease_renew while this
  /// appender is used, claimed again after a server restart. `fenced` names the holder's epoch.
  virtual Status claim(const std::string& subject, Epoch epoch) = 0;
  [[nodiscard]] virtual Connection& connection() = 0;
};

}  // namespace runwire::client
