#include "bus/client/append_lane.hpp"

#include "bus/client/bounds.hpp"

#include <algorithm>
#include <utility>

namespace runwire::client {
namespace {

/// More than the event needs in a request, and encoded at the server.
std::size_t size_of(const Draft& draft) {
  std::size_t bytes = draft.data.size() + bounds::event_overhead_bytes;
  for (const auto& [key, value] : draft.location)
    bytes += key.size() + value.size() + 8;
  return bytes;
}

/// Whether `later` may ride in one request behind `first`.
bool rides_with(const wire::Append& later, const wire::Append& first) {
  return later.level == first.level && later.deadline_ms == first.deadline_ms && !later.expect;
}

/// Moves as many events as fit the bounds of one request; true where all of them did.
bool fill(wire::Append& request, std::size_t& bytes, const Submission& from) {
  const std::vector<Draft>& events = from.request.events;
  for (std::size_t index = from.reply.taken; index < events.size(); ++index) {
    const std::size_t size = size_of(events[index]);
    const bool full = request.events.size() >= limits::append_events_max ||
                      bytes + size > limits::append_bytes_max;
    if (full && !request.events.empty()) return false;
    request.events.push_back(events[index]);
    bytes += size;
  }
  return true;
}

bool is_late(ErrorCode code) {
  return code == ErrorCode::observer_timeout || code == ErrorCode::observer_refused;
}

bool is_unknown(ErrorCode code) {
  return code == ErrorCode::timed_out || code == ErrorCode::unavailable;
}

Error out_of_order(const Submission& refused) {
  const wire::Append& request = refused.request;
  Error error{ErrorCode::out_of_order,
              "an earlier append of this subject was refused; go on from that event",
              {}};
  if (refused.reply.taken >= request.events.size())
    return std::move(error).with("subject", request.subject);
  return std::move(error)
      .with("subject", request.subject)
      .with("refused", to_string(request.events[refused.reply.taken].id));
}

}  // namespace

wire::Append AppendLane::make_request(std::optional<Epoch> epoch) {
  const Submission& front = queue_.front();
  wire::Append request;
  request.subject = front.request.subject;
  request.level = front.request.level;
  request.deadline_ms = front.request.deadline_ms;
  request.epoch = front.request.epoch ? front.request.epoch : epoch;
  request.go_on = go_on_ || front.request.go_on;
  request.again = again_;
  if (front.request.expect) {
    const auto taken =
        std::ranges::count_if(front.reply.seqs, [](Sequence seq) { return seq.value > 0; });
    request.expect = Sequence{front.request.expect->value + static_cast<std::uint64_t>(taken)};
  }
  std::size_t bytes = 0;
  for (const Submission& submission : queue_) {
    if (&submission != &front && !rides_with(submission.request, front.request)) break;
    if (!fill(request, bytes, submission)) break;
  }
  flying_ = request.events.size();
  return request;
}

void AppendLane::answered(wire::Reply reply,
                          Instant now,
                          const std::function<bool()>& reclaim,
                          std::vector<Finished>& finished) {
  const std::size_t sent = std::exchange(flying_, 0);
  const Verdict verdict = judge(reply, sent);
  const bool began = verdict.taken > 0;
  if (began) take(std::get<wire::AppendReply>(reply.answer), verdict, finished);
  if (began || !verdict.error) {
    reclaimed_ = false;
    again_ = false;
    pause_ = {};
  }
  if (!verdict.error || verdict.late) {
    go_on_ = false;
    // Only a part of the front one was under way: the rest is not sent after such news.
    if (verdict.error && !queue_.empty() && queue_.front().reply.taken > 0)
      refuse(*verdict.error, finished);
    return;
  }
  if (!may_retry(verdict, now, reclaim)) refuse(*verdict.error, finished);
}

AppendLane::Verdict AppendLane::judge(wire::Reply& reply, std::size_t sent) const {
  Verdict verdict{.error = std::move(reply.error)};
  // A server that stops answers for what it had taken too, and may not have written it: all again.
  if (verdict.error && verdict.error->code == ErrorCode::closed) return verdict;
  const auto* answer = std::get_if<wire::AppendReply>(&reply.answer);
  if (answer != nullptr) {
    const std::size_t taken = answer->taken;
    const bool fits =
        taken <= sent && answer->seqs.size() == taken && answer->positions.size() == taken;
    if (fits && (verdict.error || taken == sent)) {
      verdict.taken = taken;
      verdict.late = verdict.error && (is_late(verdict.error->code) || taken == sent);
      return verdict;
    }
  } else if (verdict.error) {
    return verdict;
  }
  verdict.error = Error{ErrorCode::invalid, "append: the reply does not match its request", {}};
  return verdict;
}

void AppendLane::take(const wire::AppendReply& reply,
                      const Verdict& verdict,
                      std::vector<Finished>& finished) {
  std::size_t done = 0;
  auto duplicate = reply.duplicates.begin();
  while (done < verdict.taken) {
    Submission& front = queue_.front();
    wire::AppendReply& own = front.reply;
    const std::size_t count =
        std::min(front.request.events.size() - own.taken, verdict.taken - done);
    for (; duplicate != reply.duplicates.end() && *duplicate < done + count; ++duplicate) {
      if (*duplicate >= done) own.duplicates.push_back(*duplicate - done + own.taken);
    }
    for (std::size_t index = done; index < done + count; ++index) {
      own.seqs.push_back(reply.seqs[index]);
      own.positions.push_back(reply.positions[index]);
    }
    own.taken += count;
    own.sync = reply.sync;
    done += count;
    if (own.taken < front.request.events.size()) return;
    finish_front(Appended{own, verdict.late ? verdict.error : std::nullopt}, finished);
  }
}

bool AppendLane::may_retry(const Verdict& verdict,
                           Instant now,
                           const std::function<bool()>& reclaim) {
  switch (verdict.error->code) {
    case ErrorCode::closed:
    case ErrorCode::backpressure:
      again_ = again_ || verdict.error->code == ErrorCode::closed;
      pause_ = std::clamp(pause_ * 2, bounds::retry_first, bounds::retry_max);
      retry_at_ = now + pause_;
      return retry_at_ < queue_.front().deadline;
    case ErrorCode::too_large:  // The whole was: what is left of it is less.
      return verdict.taken > 0;
    case ErrorCode::not_owner:  // After a restart the claim may not have been taken again yet.
      if (std::exchange(reclaimed_, true)) return false;
      return reclaim();
    case ErrorCode::out_of_order:  // Every refusal was told: with one request at a time none is
                                   // new.
      return !std::exchange(go_on_, true);
    default:
      return false;
  }
}

void AppendLane::refuse(const Error& error, std::vector<Finished>& finished) {
  go_on_ = true;
  again_ = false;
  reclaimed_ = false;
  pause_ = {};
  retry_at_ = {};
  const bool unknown = is_unknown(error.code);
  const Error behind = unknown ? error : out_of_order(queue_.front());
  if (unknown && queue_.front().reply.taken == 0) {
    finish_front(fail(error), finished);
  } else {
    finish_front(Appended{queue_.front().reply, error}, finished);
  }
  while (!queue_.empty() && (unknown || !queue_.front().request.go_on)) {
    finish_front(unknown ? Result<Appended>(fail(behind)) : Appended{queue_.front().reply, behind},
                 finished);
  }
}

void AppendLane::finish_front(Result<Appended> result, std::vector<Finished>& finished) {
  Submission submission = std::move(queue_.front());
  queue_.pop_front();
  if (result) {
    result->reply.subject = submission.request.subject;
    result->reply.level = submission.request.level;
  }
  finished.push_back({std::move(submission), std::move(result)});
}

}  // namespace runwire::client
