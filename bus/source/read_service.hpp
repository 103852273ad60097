#pragma once

#include "bus/source/counters.hpp"
#include "bus/source/page_plan.hpp"
#include "bus/source/read_queue.hpp"
#include "bus/source/waiting.hpp"
#include "codec/base/clock.hpp"
#include "codec/base/result.hpp"
#include "engine/engine.hpp"
#include "engine/store/store.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace runwire::bus {

/// Serves reads: fairly between clients, a page a turn each, from one look at the positions; those
/// at the end wait for news without costing anything.
///
/// Owner: the requests thread. Bounds: bounds::pages_per_turn_max pages and
/// bounds::page_bytes_per_turn_max bytes a turn; those of ReadQueue and WaitingReads.
class ReadService {
 public:
  /// A page, or why there is none; `held` counts the reply's bytes until the client has taken them.
  using Answer = std::function<void(const Origin&, Result<PlannedPage>&&, HeldBytes held)>;

  ReadService(const Store& store, Positions now, RequestCounters& counters, Answer answer)
      : store_(store), now_(now), waiting_(now), counters_(counters), answer_(std::move(answer)) {}

  void add(Origin&& origin, const wire::Read& read, Instant now);
  /// Serves what is ready as the log stands at `positions`. Returns how many were answered or
  /// moved.
  std::size_t turn(const Positions& positions, Instant now);
  /// Answers every read that waits, with what there is: the server stops.
  void finish(Instant now);

  [[nodiscard]] std::optional<Instant> next_due() const { return waiting_.next_deadline(); }
  /// True where a read could not be served because its client does not take its replies.
  [[nodiscard]] bool held_up() const { return !queue_.empty(); }

 private:
  std::size_t wake(const Positions& positions, Instant now);
  void serve(PendingRead&& pending, Instant now);

  const Store& store_;
  Positions now_;
  ReadQueue queue_{};
  WaitingReads waiting_;
  RequestCounters& counters_;
  Answer answer_;
  std::vector<PendingRead> woken_{};
  std::size_t turn_bytes_ = 0;
  bool looking_ = false;  ///< wake() has more to look through.
};

}  // namespace runwire::bus
