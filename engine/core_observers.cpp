// What the core does for the required observers: attaches, acks, refusals, suspension, their rows.

#include "codec/json/canonical.hpp"
#include "codec/wire/event_codec.hpp"
#include "codec/wire/writer.hpp"
#include "engine/core.hpp"

#include <algorithm>
#include <utility>

namespace runwire {
namespace {

template <class Answer>
void say(Respond& respond, Answer answer) {
  respond({.answer = std::move(answer), .error = {}});
}

void say_no(Respond& respond, Error error) {
  respond({.answer = {}, .error = std::move(error)});
}

Error unknown_observer(const std::string& name) {
  return Error{ErrorCode::not_found,
               "no required observer has this name; start the server with --require NAME",
               {}}
      .with("observer", name);
}

/// Nobody must take an event that was passed over for one that was accepted.
Draft skipped_event(const std::string& observer, Position position, const std::string& reason) {
  const std::string at = std::to_string(position.value);
  return {.type = "observer.skipped",
          .data = "{\"observer\":" + json::quote(observer) + ",\"first\":" + at +
                  ",\"last\":" + at + ",\"reason\":" + json::quote(reason) + "}"};
}

}  // namespace

void Core::answer(const wire::Attach& request, Respond respond) {
  RequiredObserver* observer = observers_.find(request.observer);
  if (observer == nullptr || world_.observers == nullptr) {
    return say_no(respond, unknown_observer(request.observer));
  }
  if (request.log && *request.log != world_.store.log_id()) {
    return say_no(
        respond,
        Error{ErrorCode::cursor_foreign, "the consumer's cursor belongs to another log", {}}
            .with("requested_log", to_string(*request.log))
            .with("log", to_string(world_.store.log_id())));
  }
  if (request.position && *request.position > committed_) {
    return say_no(respond,
                  Error{ErrorCode::cursor_ahead, "the consumer's cursor is beyond this log", {}}
                      .with("requested", request.position->value)
                      .with("latest", committed_.value));
  }
  const Epoch epoch = observer->attach();
  world_.observers->attached(
      {.observer = observer->name(), .epoch = epoch, .acked = observer->acked()},
      std::move(respond));
}

void Core::answer(const wire::Detach& request, Respond respond) {
  RequiredObserver* observer = observers_.find(request.observer);
  if (observer == nullptr) return say_no(respond, unknown_observer(request.observer));
  if (request.epoch == observer->epoch() && observer->attached()) {
    observer->detach(request.epoch);
    if (world_.observers != nullptr) world_.observers->detached(request.observer, request.epoch);
  }
  say(respond, wire::DetachReply{});
}

void Core::take(const wire::Ack& ack) {
  RequiredObserver* observer = observers_.find(ack.observer);
  const bool ours = ack.log == world_.store.log_id() && ack.term == world_.store.term();
  if (observer == nullptr || !ours) return;  // meant for another log or an earlier life of this one
  const Instant now = world_.clock.now();
  const Position before = observer->acked();
  Status status{};
  if (ack.refused) {
    const auto exhausted = observer->refuse(ack.epoch, ack.position, now);
    if (exhausted) {
      receipts_.refused(ack.position, ack.observer, ack.reason);
      if (*exhausted) skip(ack.observer, ack.position, ack.reason);
    } else {
      status = fail(exhausted.error());
    }
  } else if (auto moved = observer->ack(ack.epoch, ack.position); !moved) {
    status = fail(std::move(moved.error()));
  }
  if (observer->acked() != before) observers_.ack_moved(now);
  if (!status && status.error().code == ErrorCode::fenced && world_.observers != nullptr) {
    world_.observers->fenced(ack.observer, ack.epoch, observer->epoch());
  }
}

/// On record first, then it counts: a crash in between has changed nothing.
void Core::skip(const std::string& name, Position position, const std::string& reason) {
  if (store_failed_) return;
  const auto page = backlog()(Position{position.value - 1}, position, {.events_max = 1});
  if (!page || page->empty()) return;
  std::size_t offset = 0;
  const auto event = wire::decode_event(page->events, offset);
  if (!event) return;
  const std::string words = wire::sentence(reason, limits::reason_bytes_max);
  // Of a note that is refused nothing more is said: it would never end. Without room for the note
  // the event is held, and refused again later.
  if (event->subject != bus_subject && !admission_.note(skipped_event(name, position, words))) {
    return;
  }
  const ByteView bytes = as_bytes(words);
  admission_.control({.kind = RecordKind::skip, .number = position.value},
                     name,
                     Bytes(bytes.begin(), bytes.end()));
  admission_.building().waiting.push_back(
      {.respond = [this, name, position](const Outcome& outcome) {
        if (outcome.error || !observers_.find(name)->skip(position)) return;
        observers_.ack_moved(world_.clock.now());
      }});
}

void Core::suspend(const std::string& name, bool suspended, Respond respond) {
  const RequiredObserver* observer = observers_.find(name);
  if (observer == nullptr) return say_no(respond, unknown_observer(name));
  if (store_failed_) return say_no(respond, *store_failed_);
  admission_.control({.kind = RecordKind::suspend, .number = suspended ? 1U : 0U}, name, {});
  if (!suspended) {
    // What was shown meanwhile stays shown: it catches up to there without holding anybody back.
    admission_.control({.kind = RecordKind::gate, .number = acknowledged_.value}, name, {});
  }
  admission_.building().waiting.push_back(
      {.outcome = {.answer = wire::SuspendReply{observer->acked()}, .error = {}},
       .respond = [this, name, suspended, respond = std::move(respond)](Outcome outcome) mutable {
         if (!outcome.error && suspended) observers_.find(name)->suspend();
         if (!outcome.error && !suspended) observers_.find(name)->resume(acknowledged_);
         respond(std::move(outcome));
       }});
}

wire::ObserversReply Core::observer_rows() const {
  wire::ObserversReply reply{observers_.rows(committed_)};
  for (wire::ObserverRow& row : reply.observers) {
    if (row.owed == 0) continue;
    row.owed_bytes = window_.bytes_after(row.acked);
    const auto page = backlog()(row.acked, next(row.acked), {.events_max = 1});
    std::size_t offset = 0;
    if (!page || page->empty()) continue;
    const auto oldest = wire::decode_event(page->events, offset);
    const WallMicros now = world_.clock.wall();
    if (oldest && oldest->time < now) row.oldest_ms = (now - oldest->time) / 1000;
  }
  return reply;
}

}  // namespace runwire
