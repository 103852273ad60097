#include "engine/log/refusals.hpp"

#include "codec/base/bytes.hpp"

#include <utility>

namespace runwire {
namespace {

std::string key_of(const InstanceId& client, const std::string& subject) {
  return std::string(as_text(client.view())) + subject;
}

}  // namespace

void Refusals::remember(const InstanceId& client, const std::string& subject, const EventId& id) {
  std::string key = key_of(client, subject);
  const auto [place, fresh] = refused_.insert_or_assign(key, id);
  if (!fresh) return;
  order_.push_back(std::move(key));
  // Keys that were forgotten meanwhile still stand in the order; they make room first.
  while (order_.size() > refusals_max) {
    refused_.erase(order_.front());
    order_.pop_front();
  }
}

std::optional<EventId> Refusals::find(const InstanceId& client, const std::string& subject) const {
  const auto found = refused_.find(key_of(client, subject));
  if (found == refused_.end()) return std::nullopt;
  return found->second;
}

void Refusals::forget(const InstanceId& client, const std::string& subject) {
  const std::string key = key_of(client, subject);
  if (refused_.erase(key) > 0) std::erase(order_, key);
}

}  // namespace runwire
