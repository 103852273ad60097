#include "bus/source/read_service.hpp"

#include "bus/source/bounds.hpp"
#include "codec/base/limits.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace runwire::bus {

void ReadService::add(Origin&& origin, const wire::Read& read, Instant now) {
  PendingRead pending{.origin = std::move(origin),
                      .read = read,
                      .deadline = now + std::chrono::milliseconds(read.wait_ms)};
  auto added = queue_.add(pending);
  if (added) return;
  counters_.reads_refused.add();
  answer_(pending.origin, fail(std::move(added.error())), nullptr);
}

std::size_t ReadService::turn(const Positions& positions, Instant now) {
  std::size_t done = wake(positions, now);
  turn_bytes_ = 0;
  for (std::size_t pages = 0; pages < bounds::pages_per_turn_max; ++pages) {
    if (turn_bytes_ >= bounds::page_bytes_per_turn_max) break;
    auto pending = queue_.take();
    if (!pending) break;
    serve(std::move(*pending), now);
    ++done;
  }
  if (done == 0 && queue_.empty()) queue_.sweep();
  return done;
}

std::size_t ReadService::wake(const Positions& positions, Instant now) {
  woken_.clear();
  // What is served below is judged by the positions that the waiting ones were last compared with:
  // a read that finds nothing there and then waits cannot have missed anything.
  if (looking_ || positions.committed != now_.committed ||
      positions.acknowledged != now_.acknowledged) {
    now_ = positions;
    looking_ = !waiting_.wake(now_, store_, woken_);
  }
  waiting_.expire(now, woken_);
  for (PendingRead& pending : woken_)
    queue_.ready_again(std::move(pending));
  counters_.waiting.set(waiting_.size());
  return woken_.size() + (looking_ ? 1 : 0);
}

void ReadService::serve(PendingRead&& pending, Instant now) {
  const InstanceId client = pending.origin.client;
  auto plan = plan_page(store_, now_, pending.read, queue_.page_bytes_max(client));
  const bool nothing = plan && plan->reply.span.count == 0;
  if (nothing && pending.deadline > now) {
    if (!waiting_.full()) return waiting_.add(std::move(pending));
    counters_.reads_refused.add();
    plan =
        fail(Error{ErrorCode::backpressure, "too many reads wait for news at this server", {}}.with(
            "limit", limits::waiting_reads_max));
  }
  if (plan) {
    counters_.pages.add();
    counters_.page_events.add(plan->reply.span.count);
    turn_bytes_ += plan->events.size();
  }
  answer_(pending.origin, std::move(plan), queue_.held(client));
  queue_.answered(client);
}

void ReadService::finish(Instant now) {
  woken_.clear();
  waiting_.take_all(woken_);
  for (PendingRead& pending : woken_) {
    pending.deadline = now;
    queue_.ready_again(std::move(pending));
  }
}

}  // namespace runwire::bus
