#pragma once

#include "bus/client/connection.hpp"
#include "codec/event/event.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace runwire::client {

struct ObserverOptions {
  ConnectOptions connect{};
  std::string name{};
  std::optional<LogId> log{};          ///< The consumer's own cursor, where it keeps one:
  std::optional<Position> position{};  ///< events up to here are acked again, not handed out.
};

/// Events that are owed, in position order. The views live until the next call.
struct Owed {
  Position first{};
  Position last{};
  std::vector<EventView> events{};
  std::vector<Position> positions{};
};

/// A required observer's consumer: takes what is owed, acks after the effect is safe.
///
/// Attaches again by itself after a server restart or silence; a newer attach under the same name
/// ends it with `fenced`. What was delivered and not acked may come again: positions tell.
/// Owner: one thread; no thread of its own. Errors: `fenced`, `not_found`, `cursor_foreign`,
/// `cursor_ahead` end it.
class Observer {
 public:
  static Result<std::unique_ptr<Observer>> open(const ObserverOptions& options);
  virtual ~Observer() = default;

  /// The next events that were never acked here, or nullopt after `timeout`.
  virtual Result<std::optional<Owed>> next(std::chrono::milliseconds timeout) = 0;
  /// Everything up to `position` has its effect. Cumulative.
  virtual Status ack(Position position) = 0;
  /// Refuses the event at `position`; everything before it is acked.
  virtual Status refuse(Position position, const std::string& reason) = 0;

  [[nodiscard]] virtual LogId log() const = 0;
  [[nodiscard]] virtual Epoch epoch() const = 0;
  [[nodiscard]] virtual Position acked() const = 0;
  [[nodiscard]] virtual std::uint64_t repeats_dropped() const = 0;
};

}  // namespace runwire::client
