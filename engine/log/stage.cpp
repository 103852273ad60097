#include "codec/base/check.hpp"
#include "codec/base/limits.hpp"
#include "codec/json/canonical.hpp"
#include "engine/log/staged.hpp"

#include <string>
#include <utility>

namespace runwire {
namespace {

Status check_request(const wire::Append& request) {
  if (request.events.empty()) return fail(ErrorCode::invalid, "append: no events");
  if (request.events.size() > limits::append_events_max) {
    return fail(Error{ErrorCode::too_large, "append: too many events; split it", {}}
                    .with("limit", limits::append_events_max)
                    .with("events", request.events.size()));
  }
  if (request.subject.empty()) return {};
  if (auto status = check_subject(request.subject); !status) return status;
  if (request.subject == bus_subject) {
    return fail(Error{ErrorCode::invalid, "subject: reserved for the bus's own events", {}}.with(
        "subject", bus_subject));
  }
  return {};
}

Status check_durability(const Draft& draft, TypeOf type, bool has_subject) {
  if (draft.durable && !has_subject) {
    return fail(ErrorCode::invalid, "event: a durable event needs a subject");
  }
  if (type.unknown_reserved()) {
    return fail(Error{
        ErrorCode::invalid,
        "type: unknown under a root that is reserved; use a root of your own",
        {}}.with("type", draft.type));
  }
  if (type.root == Root::user) return {};
  if (!has_subject) return fail(ErrorCode::invalid, "event: a lifecycle event needs a subject");
  if (type.ephemeral() == draft.durable) {
    return fail(Error{
        ErrorCode::invalid,
        type.ephemeral() ? "event: this type is ephemeral" : "event: this type is durable",
        {}}.with("type", draft.type));
  }
  return {};
}

/// Checks and encodes one draft behind what `staged` holds already.
Status stage_event(Draft&& draft, bool bus_own, Staged& staged) {
  if (auto status = check_type(draft.type); !status) return status;
  const TypeOf type = classify(draft.type);
  if (type.root == Root::observer && !bus_own) {
    return fail(ErrorCode::invalid, "type: observer events are written by the bus alone");
  }
  if (auto status = check_durability(draft, type, !staged.subject.empty()); !status) return status;
  auto data = json::canonicalise(draft.data);
  if (!data) return fail(std::move(data.error()));

  StagedEvent event{.id = draft.id, .type = type, .durable = draft.durable};
  if (type.root != Root::user) {
    auto payload = read_payload(type, *data);
    if (!payload) return fail(std::move(payload.error()));
    event.payload = static_cast<std::uint32_t>(staged.payloads.size());
    staged.payloads.push_back(std::move(*payload));
  }
  Event value{.id = draft.id,
              .type = std::move(draft.type),
              .location = std::move(draft.location),
              .subject = staged.subject,
              .data = std::move(*data)};
  if (draft.durable) value.durable = Durable{.version = draft.version, .seq = {}};
  const std::size_t offset = staged.bytes.size();
  auto stamps = wire::encode_event(value, staged.bytes);
  if (!stamps) return fail(std::move(stamps.error()));
  event.stamps = *stamps;
  event.offset = static_cast<std::uint32_t>(offset);
  event.bytes = static_cast<std::uint32_t>(staged.bytes.size() - offset);
  if (staged.bytes.size() > limits::append_bytes_max) {
    staged.bytes.resize(offset);
    return fail(
        Error{ErrorCode::too_large, "append: over the bytes of one request; split it", {}}.with(
            "limit", limits::append_bytes_max));
  }
  staged.events.push_back(event);
  return {};
}

std::size_t estimate(const wire::Append& request) {
  constexpr std::size_t overhead = 192;  // keys, id, stamps, type
  std::size_t bytes = 0;
  for (const Draft& draft : request.events) {
    bytes += draft.data.size() + request.subject.size() + overhead;
  }
  return bytes;
}

}  // namespace

std::unique_ptr<Staged> stage(wire::Append&& request, InstanceId client) {
  auto staged = std::make_unique<Staged>();
  staged->level = request.level;
  if (request.deadline_ms) staged->deadline = std::chrono::milliseconds(*request.deadline_ms);
  staged->expect = request.expect;
  staged->epoch = request.epoch;
  staged->client = client;
  staged->go_on = request.go_on;
  staged->again = request.again;
  if (!request.events.empty()) staged->refused_id = request.events.front().id;
  if (auto status = check_request(request); !status) {
    // A subject that breaks its rule names no run: nothing is remembered under it.
    if (check_subject(request.subject)) staged->subject = std::move(request.subject);
    staged->refusal = std::move(status.error());
    return staged;
  }
  staged->bytes.reserve(std::min(estimate(request), limits::append_bytes_max));
  staged->events.reserve(request.events.size());
  staged->subject = std::move(request.subject);
  for (Draft& draft : request.events) {
    const EventId id = draft.id;
    if (auto status = stage_event(std::move(draft), false, *staged); !status) {
      staged->refusal = std::move(status.error());
      staged->refused_id = id;
      break;
    }
  }
  return staged;
}

std::unique_ptr<Staged> stage_own(const std::string& subject, std::vector<Draft> drafts) {
  auto staged = std::make_unique<Staged>();
  staged->subject = subject;
  staged->local = true;
  for (Draft& draft : drafts) {
    const Status status = stage_event(std::move(draft), true, *staged);
    check(status.has_value(), "an event that the engine makes is valid");
  }
  return staged;
}

}  // namespace runwire
