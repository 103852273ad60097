#pragma once

#include "codec/base/clock.hpp"
#include "codec/base/result.hpp"
#include "codec/base/strong.hpp"
#include "engine/ports.hpp"
#include "engine/store/page.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

namespace runwire {

/// Reads owed events from wherever they are: (after, upto], within the bounds.
using Backlog = std::function<Result<Page>(Position after, Position upto, PageBounds bounds)>;

struct ObserverBounds {
  std::size_t in_flight_events_max = limits::in_flight_events_max;
  std::size_t in_flight_bytes_max = limits::in_flight_bytes_max;
  std::chrono::milliseconds ack_deadline = limits::ack_deadline;
  /// Refusals of one event after which it is passed over; 0: it is held for as long as it takes.
  std::uint64_t skip_after = 0;
};

/// A required observer: a cursor over the log, bounded by the one before it, with an ack that only
/// grows. What it has not acked it is owed, whatever becomes of the socket.
///
/// Owner: the core thread. Bounds: ObserverBounds; a refused event is offered again after
/// `retry_first`, doubling up to `retry_max`. Errors: a stale ack or refusal is `fenced`, one
/// beyond what was handed over is `invalid`; neither changes anything.
class RequiredObserver {
 public:
  static constexpr std::chrono::milliseconds retry_first{100};
  static constexpr std::chrono::milliseconds retry_max{5'000};

  /// `gates_from`: up to there it catches up and holds nobody back (a name seen first, or again).
  RequiredObserver(std::string name, Position acked, Position gates_from, ObserverBounds bounds);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Position acked() const { return acked_; }
  /// What the observer behind this one, and `acknowledged`, may go up to.
  [[nodiscard]] Position gate() const {
    return suspended_ ? Position{exact_integer_max} : std::max(acked_, gates_from_);
  }
  [[nodiscard]] Position gates_from() const { return gates_from_; }
  [[nodiscard]] Epoch epoch() const { return epoch_; }
  [[nodiscard]] bool attached() const { return attached_; }
  [[nodiscard]] bool suspended() const { return suspended_; }
  [[nodiscard]] std::size_t in_flight_events() const { return flight_events_; }
  [[nodiscard]] std::uint64_t redeliveries() const { return redeliveries_; }
  [[nodiscard]] std::uint64_t refusals() const { return refusals_; }
  [[nodiscard]] std::uint64_t skipped() const { return skipped_; }

  /// A consumer has the name now: a new epoch, and everything unacked is owed to it.
  Epoch attach();
  void detach(Epoch epoch);

  /// Hands over what is owed up to `limit` and fits in flight; sends again what is late. Returns
  /// how many events it handed over.
  Result<std::size_t> advance(Position limit,
                              Instant now,
                              const Backlog& backlog,
                              ObserverSink& sink);

  /// A cumulative ack of `epoch`. Returns true where it moved.
  Result<bool> ack(Epoch epoch, Position position);
  /// Refuses the event at `position` and acks all before it. Returns true where it was refused as
  /// often as the policy allows: the caller records that, then calls skip().
  Result<bool> refuse(Epoch epoch, Position position, Instant now);
  /// The event at `position` counts as handled, on record. Nothing happens where it is not the
  /// next.
  bool skip(Position position);
  /// As a name was left in an earlier life: events passed over so far, and whether it is suspended.
  void restore(std::uint64_t skipped, bool suspended);

  /// Is offered nothing and holds nobody back; its ack stays where it is.
  void suspend();
  /// From its ack on again. Up to `gates_from` it catches up and holds nobody back.
  void resume(Position gates_from);

  /// When advance() has something to do without a new event: a deadline or a retry.
  [[nodiscard]] std::optional<Instant> next_due() const;

 private:
  struct Flight {
    Position last{};
    std::size_t events = 0;
    std::size_t bytes = 0;
    Instant due{};
  };
  [[nodiscard]] Status check_epoch(Epoch epoch) const;
  void send_again_from_ack();
  void land(Position upto);

  const std::string name_;
  const ObserverBounds bounds_;
  Position gates_from_;
  Position acked_;
  Position sent_;       ///< Handed over up to here since the last rewind.
  Position handled_;    ///< The last that it acked itself: `acked_` less what was skipped since.
  Position prev_;       ///< What it has before the next delivery.
  Position sent_most_;  ///< Handed over up to here in this epoch: what may be acked.
  Epoch epoch_{};
  bool attached_ = false;
  std::deque<Flight> flights_{};
  std::size_t flight_events_ = 0;
  std::size_t flight_bytes_ = 0;
  std::optional<Instant> retry_at_{};
  std::chrono::milliseconds retry_delay_ = retry_first;
  std::uint64_t redeliveries_ = 0;
  std::uint64_t refusals_ = 0;
  std::uint64_t skipped_ = 0;
  Position refused_{};               ///< The event that was refused last,
  std::uint64_t refused_times_ = 0;  ///< and how often in a row.
  bool suspended_ = false;
};

}  // namespace runwire
