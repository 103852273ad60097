#include "codec/event/upcasts.hpp"

#include "codec/base/limits.hpp"
#include "codec/event/types.hpp"
#include "codec/json/canonical.hpp"

#include <limits>
#include <utility>

namespace runwire {
namespace {

Error at_step(Error error, const Event& event) {
  return std::move(error).with("type", event.type).with("version", event.durable->version);
}

/// The next step starts at a version that has one above it, and follows the last step.
Status check_follows(std::string_view type, std::uint32_t from, std::uint32_t newest) {
  const bool in_range = from >= 1 && from < std::numeric_limits<std::uint32_t>::max();
  if (in_range && (newest == 0 || from == newest)) return {};
  return fail(Error{ErrorCode::invalid, "upcast: this step does not follow the last one", {}}
                  .with("type", type)
                  .with("from", from)
                  .with("newest", newest));
}

}  // namespace

Status Upcasts::add(std::string_view type, std::uint32_t from, Step step) {
  if (auto status = check_type(type); !status) return status;
  if (count_ == limits::upcast_steps_max) {
    return fail(Error{ErrorCode::too_large, "upcast: too many steps", {}}.with("limit", count_));
  }
  if (auto status = check_follows(type, from, newest(type)); !status) return status;
  Chain& chain = chains_[std::string(type)];
  if (chain.steps.empty()) chain.first = from;
  chain.steps.push_back(std::move(step));
  ++count_;
  return {};
}

std::uint32_t Upcasts::newest(std::string_view type) const {
  const auto found = chains_.find(type);
  if (found == chains_.end()) return 0;
  return found->second.first + static_cast<std::uint32_t>(found->second.steps.size());
}

Result<Event> Upcasts::apply(Event event) const {
  const auto found = chains_.find(event.type);
  if (found == chains_.end() || !event.durable) return event;
  const auto& [first, steps] = found->second;
  if (event.durable->version < first) {
    Error old{ErrorCode::unsupported, "upcast: older than what the table can bring up to date", {}};
    return fail(at_step(std::move(old), event).with("supported", first));
  }
  for (std::size_t at = event.durable->version - first; at < steps.size(); ++at) {
    auto made = steps[at](event.data);
    if (made) made = json::canonicalise(*made);
    if (!made) return fail(at_step(std::move(made.error()), event));
    event.data = std::move(*made);
    ++event.durable->version;
  }
  return event;
}

}  // namespace runwire
