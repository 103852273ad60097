#include "engine/subscribe/best_effort_set.hpp"

#include <algorithm>
#include <utility>

namespace runwire {

bool BestEffortSet::add(LiveSink& member) {
  const std::scoped_lock lock(mutex_);
  if (members_.size() >= members_max) return false;
  members_.push_back(&member);
  return true;
}

void BestEffortSet::remove(LiveSink& member) {
  const std::scoped_lock lock(mutex_);
  std::erase(members_, &member);
}

bool BestEffortSet::offer(LiveBatch&& batch) {
  const std::scoped_lock lock(mutex_);
  for (std::size_t at = 0; at < members_.size(); ++at) {
    const bool last = at + 1 == members_.size();
    LiveBatch copy = last ? std::move(batch) : batch;
    const std::size_t events = copy.entries.size();
    if (!members_[at]->offer(std::move(copy))) dropped_ += events;
  }
  return true;
}

std::uint64_t BestEffortSet::dropped() const {
  const std::scoped_lock lock(mutex_);
  return dropped_;
}

std::size_t BestEffortSet::size() const {
  const std::scoped_lock lock(mutex_);
  return members_.size();
}

}  // namespace runwire
