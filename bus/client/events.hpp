#pragma once

#include "bus/client/connection.hpp"
#include "codec/event/event.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace runwire::client {

struct EventsOptions {
  ConnectOptions connect{};
  std::optional<std::string> subject{};  ///< Absent: the whole log, cursors are positions.
  std::uint64_t after = 0;               ///< Exclusive: a sequence, or a position.
  bool from_end = false;                 ///< Start at what is acknowledged now; `after` is ignored.
  std::optional<LogId> log{};            ///< The log that `after` belongs to.
  wire::Level level = wire::Level::acknowledged;
  bool ephemeral = true;
  bool follow = true;  ///< False: history only, then Ended.
  std::size_t buffer_messages_max = limits::join_buffer_messages_max;
  std::size_t buffer_bytes_max = limits::join_buffer_bytes_max;
};

/// The reader has everything up to here and is live. Comes once after each join.
struct CaughtUp {
  std::uint64_t cursor = 0;
};
/// The link or the server was gone and the reader has gone back to reading from its cursor.
struct Resumed {
  std::uint64_t cursor = 0;
  std::string reason{};
};
/// History was read to its end and following was not asked for.
struct Ended {
  std::uint64_t cursor = 0;
};
/// One event; `position` is 0 for an ephemeral one.
struct Heard {
  Event event{};
  Bytes encoded{};
  Position position{};
};
using Item = std::variant<Heard, CaughtUp, Resumed, Ended>;

/// What this reader saw of the best-effort way: honest numbers, all only grow.
struct EventsCounters {
  std::uint64_t durable = 0;
  std::uint64_t ephemeral = 0;
  std::uint64_t repeats_dropped = 0;  ///< Heard live and known already.
  std::uint64_t late_dropped = 0;     ///< Ephemeral events that came late.
  std::uint64_t messages_missed = 0;  ///< By the topic's counter.
  std::uint64_t holes_healed = 0;
  std::uint64_t resumes = 0;
};

/// `events(subject, after)`: every durable event after the cursor, once, in order, then live with
/// ephemeral ones, through drops, restarts and cuts, or a typed error that says why not.
///
/// Owner: one thread; no thread of its own: it works inside next(). Bounds: the buffer while
/// joining (over it the reader drops it and reads on), limits::pages_outstanding_max pages.
/// Errors: cursor_expired, cursor_ahead, cursor_foreign, corrupt end the reader; `unavailable` only
/// from open(): later the reader tries again for ever, and next() just times out meanwhile.
class Events {
 public:
  static Result<std::unique_ptr<Events>> open(const EventsOptions& options);
  virtual ~Events() = default;

  /// The next item, or nullopt after `timeout`: nothing is lost by a timeout.
  virtual Result<std::optional<Item>> next(std::chrono::milliseconds timeout) = 0;
  [[nodiscard]] virtual std::uint64_t cursor()
      const = 0;  ///< Of the last event that next() returned.
  [[nodiscard]] virtual LogId log() const = 0;
  [[nodiscard]] virtual const EventsCounters& counters() const = 0;
};

}  // namespace runwire::client
