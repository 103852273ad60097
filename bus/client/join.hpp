#pragma once

#include "bus/client/batch.hpp"
#include "bus/client/events.hpp"
#include "bus/client/history.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>

namespace runwire::client {

/// Joining history and live without a hole: the decisions of docs/protocol.md, section 6.
///
/// Passive: knows neither sockets nor time. It is told what came and says what to read next, and
/// hands on every durable event beyond its cursor once and in order, ephemeral ones in their place.
/// Owner: one thread. Bounds: the buffer by messages and bytes; take() is to be emptied between
/// turns. Errors: failure() is set once, and nothing is handed on after it.
class Join {
 public:
  enum class Phase : std::uint8_t {
    joining,  ///< Subscribed; waits for the beacon that says so.
    reading,  ///< Reads from the cursor to the end; live messages are kept.
    live,
    ended,
  };
  struct Options {
    std::optional<std::string> subject{};
    std::uint64_t after = 0;
    std::optional<LogId> log{};
    wire::Level level = wire::Level::acknowledged;
    bool follow = true;
    bool ephemeral = true;
    std::size_t buffer_messages_max = limits::join_buffer_messages_max;
    std::size_t buffer_bytes_max = limits::join_buffer_bytes_max;
  };

  explicit Join(Options options);

  /// PUB carries what is acknowledged; at the other level news come by reading alone.
  [[nodiscard]] bool wants_live() const;
  [[nodiscard]] bool whole_log() const { return !options_.subject; }

  /// Connected to the server of this log and term, and subscribed where live events are wanted.
  void start(const LogId& log, Term term);
  /// The link is gone, or silent: connect again and start().
  void lost(const std::string& reason);
  /// A read was refused for good.
  void fail_with(Error error);

  /// The read to send now, if any; then sent() with its rid.
  [[nodiscard]] std::optional<wire::Read> want() const;
  void sent(std::uint64_t rid, const wire::Read& read) { history_.sent(rid, read); }
  /// The answer to this read still matters.
  [[nodiscard]] bool awaits(std::uint64_t rid) const { return history_.after_of(rid).has_value(); }
  /// The read will not be answered and may be sent again.
  void unanswered(std::uint64_t rid) { history_.failed(rid); }
  /// The reply to a read: `events` is its second frame.
  void page(
      std::uint64_t rid, const LogId& log, Term term, wire::PageReply reply, bus::Frame events);
  /// A message of the live socket, in arrival order; `events` is empty where it has no such frame.
  void live(const wire::Live& message, bus::Frame events);

  [[nodiscard]] std::optional<Item> take();
  [[nodiscard]] bool has_items() const { return !ready_.empty(); }
  [[nodiscard]] Phase phase() const { return phase_; }
  [[nodiscard]] std::uint64_t cursor() const { return cursor_; }
  [[nodiscard]] const std::optional<LogId>& log() const { return options_.log; }
  [[nodiscard]] Term term() const { return term_; }
  /// Why start() is waited for; nullopt where it is not.
  [[nodiscard]] const std::optional<std::string>& restart() const { return restart_; }
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }
  [[nodiscard]] const EventsCounters& counters() const { return counters_; }

 private:
  /// A live message under way: `index` events of it are done, the walk stands at `place`.
  struct Walk {
    Batch batch{};
    std::uint64_t place = 0;
    std::size_t index = 0;
    bool stale = false;  ///< Heard before: what is ephemeral in it must not be handed on again.
  };
  struct Beacon {
    std::uint64_t last = 0;
  };
  using Kept = std::variant<Walk, Beacon>;

  [[nodiscard]] bool current(const LogId& log, Term term);
  [[nodiscard]] bool same_log(const LogId& log);
  void on_beacon(const wire::Live& message);
  void on_events(const wire::Live& message, bus::Frame events);
  [[nodiscard]] bool is_stale(std::uint64_t counter);
  void keep(Kept kept);
  void drop_buffer();
  void read_on();
  bool hand_on_page(const History::Page& page);
  void history_ended();
  void caught_up();
  bool drain();
  bool walk(Walk& walk);
  void read_again();
  void hand_on_durable(const Batch& batch, std::size_t index);
  void hand_on_ephemeral(const Walk& walk);
  void hand_on(const EventView& event, Position position);

  Options options_;
  History history_;
  std::deque<Item> ready_{};
  std::deque<Kept> buffer_{};
  std::size_t buffer_bytes_ = 0;
  std::uint64_t cursor_;
  Term term_{};
  Phase phase_ = Phase::reading;
  bool started_ = false;
  bool caught_up_ = false;  ///< Said so since start().
  bool wait_ = false;       ///< Nothing more is there: the next read waits for news.
  std::optional<std::uint64_t> counter_{};
  std::optional<std::uint64_t> hole_at_{};
  std::optional<std::string> restart_;
  std::optional<Error> failure_{};
  EventsCounters counters_{};
};

}  // namespace runwire::client
