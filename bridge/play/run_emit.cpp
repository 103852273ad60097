#include "bridge/play/run_builder.hpp"
#include "bridge/play/text.hpp"
#include "codec/base/check.hpp"
#include "codec/json/canonical.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace runwire::play {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// Recordings carry no times, so a plausible pace is made up: always the same one.
microseconds pace(TypeOf type) {
  if (type.step == Phase::delta) return milliseconds{20};
  if (type.step == Phase::progress) return milliseconds{50};
  if (type.root == Root::tool && type.terminal()) return milliseconds{100};
  if (type.root == Root::interaction && type.terminal()) return milliseconds{100};
  if (type.root == Root::model && type.step == Phase::started) return milliseconds{50};
  return milliseconds{type.root == Root::run ? 0 : 1};
}

/// What of an admitted event the ledger compares or keeps.
std::string_view text_of_event(TypeOf type, const Json& data) {
  if (type.step == Phase::delta) return text_at(data, "delta");
  if (type.step == Phase::ended) return text_at(data, "text");
  return {};
}

}  // namespace

void RunBuilder::push(std::string_view type,
                      std::string data,
                      bool durable,
                      std::chrono::microseconds after) {
  Step step;
  step.draft.type = type;
  step.draft.durable = durable;
  step.draft.data = std::move(data);
  step.after = after;
  steps_.push_back(std::move(step));
}

void RunBuilder::emit(std::string_view type, Json data, Payload payload, std::string_view text) {
  const TypeOf kind = classify(type);
  check(ledger_.check(kind, payload, text).has_value(), "play: the builder broke a lifecycle rule");
  ledger_.apply(kind, payload, text);
  push(type, dump(data), !kind.ephemeral(), pace(kind));
}

Status RunBuilder::admit(std::string_view type,
                         const Json& data,
                         bool durable,
                         std::chrono::microseconds after) {
  if (!room()) return {};
  if (Status valid = check_type(type); !valid) return valid;
  const TypeOf kind = classify(type);
  if (kind.unknown_reserved()) return fail(ErrorCode::invalid, "there is no such reserved type");
  if (kind.root == Root::stream || kind.root == Root::observer) {
    return fail(ErrorCode::invalid, "the type is the bus's own");
  }
  if (kind.root != Root::user && !data.is_object()) {
    return fail(ErrorCode::invalid, "`data` is not an object");
  }
  if (kind.root != Root::user && durable == kind.ephemeral()) {
    return fail(ErrorCode::invalid, "`ephemeral` is not this type's to choose");
  }
  auto canonical = json::canonicalise(dump(data));
  if (!canonical) return fail(std::move(canonical).error());
  auto payload = read_payload(kind, *canonical);
  if (!payload) return fail(std::move(payload).error());
  const std::string_view text = text_of_event(kind, data);
  if (text.size() > Bounds::delta_bytes_max && kind.step == Phase::delta) {
    return fail(ErrorCode::too_large, "the delta is over its bound");
  }
  const bool starts = kind.root == Root::run && kind.step == Phase::started;
  if (!ledger_.run_started()) {
    if (!starts) return fail(ErrorCode::lifecycle, "the first event is not run.started");
    start_run(&data);
    return {};
  }
  const bool closes = kind.scope() && (kind.step == Phase::failed || kind.step == Phase::cancelled);
  const std::string identity = identity_of(kind.root, *payload);
  const bool known = kind.root == Root::run || ledger_.open(kind.root, identity) != nullptr;
  if (closes && known) {
    const Problem parent = {.code = "parent_failed", .message = "the scope around it failed"};
    close_under(kind.root, identity, kind.step == Phase::failed ? &parent : nullptr, false);
  }
  if (Status allowed = ledger_.check(kind, *payload, text); !allowed) return allowed;
  ledger_.apply(kind, *payload, text);
  push(type, std::move(*canonical), durable, after);
  return {};
}

}  // namespace runwire::play
