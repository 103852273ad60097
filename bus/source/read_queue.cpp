#include "bus/source/read_queue.hpp"

#include <algorithm>
#include <utility>

namespace runwire::bus {

Status ReadQueue::add(PendingRead& pending) {
  Client& client = clients_[pending.origin.client];
  if (client.outstanding >= limits::pages_outstanding_max) {
    return fail(
        Error{ErrorCode::backpressure, "too many reads of this client wait for their pages", {}}
            .with("outstanding", client.outstanding)
            .with("limit", limits::pages_outstanding_max));
  }
  ++client.outstanding;
  ready_again(std::move(pending));
  return {};
}

void ReadQueue::ready_again(PendingRead&& pending) {
  Client& client = clients_[pending.origin.client];
  if (client.ready.empty()) ring_.push_back(pending.origin.client);
  client.ready.push_back(std::move(pending));
}

std::optional<PendingRead> ReadQueue::take() {
  for (std::size_t looks = ring_.size(); looks > 0; --looks) {
    const InstanceId id = ring_.front();
    ring_.pop_front();
    Client& client = clients_[id];
    if (client.held->load() >= limits::reply_bytes_outstanding_max) {
      ring_.push_back(id);
      continue;
    }
    PendingRead pending = std::move(client.ready.front());
    client.ready.pop_front();
    if (!client.ready.empty()) ring_.push_back(id);
    return pending;
  }
  return std::nullopt;
}

void ReadQueue::answered(const InstanceId& id) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  --found->second.outstanding;
}

std::size_t ReadQueue::page_bytes_max(const InstanceId& id) const {
  const auto found = clients_.find(id);
  const std::size_t reads =
      found == clients_.end() ? 1 : std::max<std::size_t>(1, found->second.outstanding);
  return std::min(limits::page_bytes_max, limits::reply_bytes_outstanding_max / reads);
}

HeldBytes ReadQueue::held(const InstanceId& id) {
  return clients_[id].held;
}

void ReadQueue::sweep() {
  std::erase_if(clients_, [](const auto& entry) {
    return entry.second.outstanding == 0 && entry.second.held->load() == 0;
  });
}

}  // namespace runwire::bus
