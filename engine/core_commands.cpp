// The commands of the core beside appends and observers: claims, status, and who answers what.

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
          say(respond, observer_rows());
        } else if constexpr (std::is_same_v<Request, wire::Suspend>) {
          suspend(request.observer, true, std::move(respond));
        } else if constexpr (std::is_same_v<Request, wire::Resume>) {
          suspend(request.observer, false, std::move(respond));
        } else if constexpr (std::is_same_v<Request, wire::GetStatus>) {
          say(respond, wire::StatusReply{status()});
        } else {
          say_no(respond, {ErrorCode::unsupported, "not a command of the engine's core", {}});
        }
      },
      operation);
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
