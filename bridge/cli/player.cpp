#include "bridge/cli/player.hpp"

#include "bridge/cli/interrupt.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace runwire::cli {

void Player::add(std::string subject, std::vector<play::Step> steps) {
  Playing run{.subject = std::move(subject), .steps = std::move(steps)};
  if (!run.steps.empty()) run.end = run.steps.back().draft.type;
  playing_.push_back(std::move(run));
}

Instant Player::after(Instant before, const play::Step& step) const {
  if (speed_ <= 0) return before;
  const auto pause =
      std::chrono::duration<double, std::micro>(static_cast<double>(step.after.count()) / speed_);
  return before + std::chrono::duration_cast<Instant::duration>(pause);
}

void Player::start(Playing& run, Instant now) {
  run.due = run.steps.empty() ? now : after(now, run.steps.front());
  if (!claims_) return;
  if (auto claimed = appender_.claim(run.subject, Epoch{1}); !claimed)
    run.error = std::move(claimed.error());
}

Status Player::run(const std::function<bool()>& stop) {
  for (Playing& run : playing_)
    start(run, std::chrono::steady_clock::now());
  while (!stop()) {
    const Instant now = std::chrono::steady_clock::now();
    Instant due = now + look_every;
    bool all_done = true;
    for (Playing& run : playing_) {
      if (run.done()) continue;
      all_done = false;
      if (run.under_way) continue;
      if (run.due <= now) {
        if (auto submitted = submit_due(run, now); !submitted) return submitted;
      }
      if (!run.under_way) due = std::min(due, run.due);
    }
    if (all_done) return {};
    const auto pause =
        std::chrono::ceil<std::chrono::milliseconds>(due - std::chrono::steady_clock::now());
    if (auto idle = appender_.idle(std::max(pause, std::chrono::milliseconds{0})); !idle)
      return idle;
  }
  return {};
}

Status Player::submit_due(Playing& run, Instant now) {
  wire::Append request{.subject = run.subject};
  std::size_t bytes = 0;
  while (run.next < run.steps.size() && run.due <= now &&
         request.events.size() < request_events_max) {
    play::Step& step = run.steps[run.next];
    if (!request.events.empty() && bytes + step.draft.data.size() > request_bytes_max) break;
    bytes += step.draft.data.size();
    request.events.push_back(std::move(step.draft));
    if (++run.next < run.steps.size()) run.due = after(run.due, run.steps[run.next]);
  }
  run.under_way = true;
  return appender_.submit(std::move(request), [this, &run](Result<client::Appended> outcome) {
    answered(run, std::move(outcome));
  });
}

void Player::answered(Playing& run, Result<client::Appended> outcome) {
  run.under_way = false;
  if (!outcome) {
    run.error = std::move(outcome.error());
    return;
  }
  run.accepted += outcome->reply.taken;
  run.error = std::move(outcome->error);
}

}  // namespace runwire::cli
