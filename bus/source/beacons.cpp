#include "bus/source/beacons.hpp"

#include "codec/base/limits.hpp"

#include <algorithm>

namespace runwire::bus {
namespace {

constexpr std::chrono::seconds first_offset{1};

std::chrono::seconds next_offset(std::chrono::seconds offset) {
  if (offset >= limits::beacon_interval_max) return offset + limits::beacon_interval_max;
  return std::min(offset * 2, limits::beacon_interval_max);
}

}  // namespace

void BeaconSchedule::touched(Topic& topic, Instant now) {
  topic.quiet_since = now;
  topic.offset = first_offset;
  // An earlier entry finds out by itself, when it is due, that the topic was busy meanwhile.
  if (!topic.due || *topic.due > now + first_offset) schedule(topic, now + first_offset);
}

void BeaconSchedule::forget(Topic& topic) {
  if (!topic.due) return;
  due_.erase({*topic.due, topic.number});
  topic.due.reset();
}

Topic* BeaconSchedule::take_due(Instant now) {
  while (!due_.empty() && due_.begin()->first.first <= now) {
    Topic& topic = *due_.begin()->second;
    const Instant wanted = topic.quiet_since + topic.offset;
    if (wanted > now) {
      schedule(topic, wanted);
      continue;
    }
    const bool last_one = ended(topic.state) && topic.offset >= limits::beacon_interval_max;
    // After a pause of the whole process the steps that were missed are not sent one by one.
    while (topic.quiet_since + topic.offset <= now)
      topic.offset = next_offset(topic.offset);
    if (last_one) {
      forget(topic);
    } else {
      schedule(topic, topic.quiet_since + topic.offset);
    }
    return &topic;
  }
  return nullptr;
}

std::optional<Instant> BeaconSchedule::next_due() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first.first;
}

void BeaconSchedule::schedule(Topic& topic, Instant due) {
  forget(topic);
  due_.emplace(std::pair{due, topic.number}, &topic);
  topic.due = due;
}

}  // namespace runwire::bus
