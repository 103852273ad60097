// The commands of the core beside appends: observers, claims, status.

#include "codec/base/limits.hpp"
#include "engine/core.hpp"

#include <type_traits>
#include <utility>
#include <variant>

namespace runwire {
namespace {

template <class Answer>
void say(Respond& respond, Answer answer) {
  respond({.answer = std::move(answer), .error = {}});
}

void say_no(Respond& respond, Error error) {
  respond({.answer = {}, .error = std::move(error)});
}

}  // namespace

void Core::take(wire::Operation&& operation, const InstanceId& client, Respond respond) {
  std::visit(
      [&](auto& request) {
        using Request = std::remove_cvref_t<decltype(request)>;
        if constexpr (std::is_same_v<Request, wire::Attach> ||
                      std::is_same_v<Request, wire::Detach>) {
          answer(request, std::move(respond));
        } else if constexpr (std::is_same_v<Request, wire::Claim> ||
                             std::is_same_v<Request, wire::Renew>) {
          answer(request, client, std::move(respond));
        } else if constexpr (std::is_same_v<Request, wire::Observers>) {
          say(respond, wire::ObserversReply{observers_.rows(committed_)});
        } else if constexpr (std::is_same_v<Request, wire::GetStatus>) {
          say(respond, wire::StatusReply{status()});
        } else {
          say_no(respond, {ErrorCode::unsupported, "not a command of the engine's core", {}});
        }
      },
      operation);
}

void Core::answer(const wire::Attach& request, Respond respond) {
  RequiredObserver* observer = observers_.find(request.observer);
  if (observer == nullptr || world_.observers == nullptr) {
    return say_no(respond,
                  Error{ErrorCode::not_found,
                        "no required observer has this name; start the server with --require NAME",
                        {}}
                      .with("observer", request.observer));
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
  if (observer == nullptr) {
    return say_no(respond,
                  Error{ErrorCode::not_found, "no required observer has this name", {}}.with(
                      "observer", request.observer));
  }
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
    status = observer->refuse(ack.epoch, ack.position, now);
    if (status) receipts_.refused(ack.position, ack.observer, ack.reason);
  } else if (auto moved = observer->ack(ack.epoch, ack.position); !moved) {
    status = fail(std::move(moved.error()));
  }
  if (observer->acked() != before) observers_.ack_moved(now);
  if (!status && status.error().code == ErrorCode::fenced && world_.observers != nullptr) {
    world_.observers->fenced(ack.observer, ack.epoch, observer->epoch());
  }
}

void Core::answer(const wire::Claim& request, const InstanceId& client, Respond respond) {
  if (auto status = check_subject(request.subject); !status) {
    return say_no(respond, std::move(status.error()));
  }
  if (client == InstanceId{} || request.epoch == Epoch{}) {
    return say_no(respond,
                  {ErrorCode::invalid, "a claim names its client and an epoch from 1", {}});
  }
  if (store_failed_) return say_no(respond, *store_failed_);
  auto subject = subjects_.find_or_make(request.subject);
  if (!subject) return say_no(respond, std::move(subject.error()));
  if (ended((*subject)->state)) return say_no(respond, admission_.over(**subject));
  auto fresh = claims_.claim(**subject, client, request.epoch, world_.clock.now());
  if (!fresh) return say_no(respond, std::move(fresh.error()));
  Outcome granted{
      .answer = wire::ClaimReply{.subject = request.subject,
                                 .epoch = request.epoch,
                                 .lease_ms = static_cast<std::uint64_t>(claims_.lease().count()),
                                 .last = (*subject)->last,
                                 .state = std::string(to_string((*subject)->state))},
      .error = {}};
  if (!*fresh) return respond(std::move(granted));
  const ByteView holder = client.view();
  admission_.control({.kind = RecordKind::claim, .number = request.epoch.value},
                     request.subject,
                     Bytes(holder.begin(), holder.end()));
  admission_.building().waiting.push_back(
      {.outcome = std::move(granted), .respond = std::move(respond)});
}

void Core::answer(const wire::Renew& request, const InstanceId& client, Respond respond) {
  wire::RenewReply reply{.lease_ms = static_cast<std::uint64_t>(claims_.lease().count()),
                         .lost = {}};
  const Instant now = world_.clock.now();
  for (const auto& [name, epoch] : request.claims) {
    if (!claims_.renew(subjects_.in_memory(name), client, epoch, now)) reply.lost.push_back(name);
  }
  say(respond, std::move(reply));
}

std::vector<Fact> Core::status() const {
  const Positions at = positions();
  return {
      {"log.appended", at.appended.value},
      {"log.committed", at.committed.value},
      {"log.acknowledged", at.acknowledged.value},
      {"log.published", at.published.value},
      {"log.earliest", world_.store.earliest().value},
      {"store.state",
       store_failed_ ? std::string(to_string(store_failed_->code)) : std::string("ok")},
      {"store.sync", std::string(world_.store.sync_mode() == SyncMode::always ? "always" : "none")},
      {"store.batches", batches_},
      {"append.requests", appends_},
      {"append.refused", refused_},
      {"append.ids_remembered", admission_.ids_remembered()},
      {"window.events", window_.events()},
      {"window.bytes", window_.bytes()},
      {"subjects.in_memory", subjects_.size()},
      {"claims", claims_.size()},
      {"receipts.waiting", receipts_.size()},
      {"live.held_bytes", live_.held_bytes()},
      {"live.held_dropped", live_.held_dropped()},
      {"live.dropped", live_.dropped_events()}};
}

}  // namespace runwire
