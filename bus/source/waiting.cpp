#include "bus/source/waiting.hpp"

#include "bus/source/bounds.hpp"
#include "codec/base/check.hpp"
#include "codec/wire/event_codec.hpp"

#include <algorithm>

namespace runwire::bus {

void WaitingReads::add(PendingRead&& pending) {
  check(!full(), "a waiting read is only added where there is room");
  const std::uint64_t id = next_id_++;
  Level& level = level_of(pending.read);
  if (pending.read.subject) {
    level.subjects[*pending.read.subject].insert(id);
  } else {
    level.log.insert({pending.read.after, id});
  }
  deadlines_.insert({pending.deadline, id});
  reads_.emplace(id, std::move(pending));
}

void WaitingReads::take(std::uint64_t id, std::vector<PendingRead>& out) {
  const auto found = reads_.find(id);
  check(found != reads_.end(), "the indexes of waiting reads agree");
  PendingRead& pending = found->second;
  Level& level = level_of(pending.read);
  if (pending.read.subject) {
    const auto subject = level.subjects.find(*pending.read.subject);
    subject->second.erase(id);
    if (subject->second.empty()) level.subjects.erase(subject);
  } else {
    level.log.erase({pending.read.after, id});
  }
  deadlines_.erase({pending.deadline, id});
  out.push_back(std::move(pending));
  reads_.erase(found);
}

bool WaitingReads::wake(const Positions& now, const Store& store, std::vector<PendingRead>& out) {
  const bool first = wake_level(levels_[0], std::min(now.acknowledged, now.committed), store, out);
  const bool second = wake_level(levels_[1], now.committed, store, out);
  return first && second;
}

bool WaitingReads::wake_level(Level& level,
                              Position upto,
                              const Store& store,
                              std::vector<PendingRead>& out) {
  if (upto <= level.seen) return true;
  while (!level.log.empty() && level.log.begin()->first < upto.value)
    take(level.log.begin()->second, out);
  if (level.subjects.size() <= upto.value - level.seen.value) {
    if (!level.subjects.empty()) ask_each(level, store, out);
    level.seen = upto;
    return true;
  }
  return look_through(level, upto, store, out);
}

void WaitingReads::ask_each(Level& level, const Store& store, std::vector<PendingRead>& out) {
  std::vector<std::string> moved;
  for (const auto& [subject, ids] : level.subjects) {
    const auto info = store.find_subject(subject);
    if (!info || (*info && (*info)->last_position > level.seen)) moved.push_back(subject);
  }
  for (const std::string& subject : moved)
    wake_subject(level, subject, out);
}

bool WaitingReads::look_through(Level& level,
                                Position upto,
                                const Store& store,
                                std::vector<PendingRead>& out) {
  for (std::size_t pages = 0; pages < bounds::scan_pages_per_turn_max; ++pages) {
    const auto page = store.read_log(level.seen, upto, {});
    const auto events = page ? wire::decode_events(page->events) : fail(page.error());
    if (!events || page->empty()) {
      wake_subjects(level, out);
      level.seen = upto;
      return true;
    }
    for (const EventView& event : *events)
      wake_subject(level, event.subject, out);
    level.seen = page->entries.back().position;
    if (level.seen >= upto || level.subjects.empty()) break;
  }
  if (level.subjects.empty()) level.seen = upto;
  return level.seen >= upto;
}

void WaitingReads::wake_subject(Level& level,
                                std::string_view subject,
                                std::vector<PendingRead>& out) {
  const auto found = level.subjects.find(subject);
  if (found == level.subjects.end()) return;
  const std::vector<std::uint64_t> ids(found->second.begin(), found->second.end());
  for (const std::uint64_t id : ids)
    take(id, out);
}

void WaitingReads::wake_subjects(Level& level, std::vector<PendingRead>& out) {
  while (!level.subjects.empty()) {
    const std::string subject = level.subjects.begin()->first;
    wake_subject(level, subject, out);
  }
}

void WaitingReads::expire(Instant now, std::vector<PendingRead>& out) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now)
    take(deadlines_.begin()->second, out);
}

void WaitingReads::take_all(std::vector<PendingRead>& out) {
  while (!deadlines_.empty())
    take(deadlines_.begin()->second, out);
}

std::optional<Instant> WaitingReads::next_deadline() const {
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.begin()->first;
}

}  // namespace runwire::bus
