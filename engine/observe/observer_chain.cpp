#include "engine/observe/observer_chain.hpp"

#include "codec/base/limits.hpp"

#include <algorithm>
#include <utility>

namespace runwire {
namespace {

const AckInfo* stored_of(const ControlState& control, const std::string& name) {
  const auto found = std::ranges::find(control.acks, name, &AckInfo::observer);
  return found == control.acks.end() ? nullptr : &*found;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// `acknowledged` as it stood when the log was last closed: what the observers of that time had all
/// acked. Readers may have seen everything up to there.
Position acknowledged_before(const ControlState& control, Position committed) {
  Position acknowledged = committed;
  for (const std::string& name : control.observers) {
    const AckInfo* stored = stored_of(control, name);
    if (stored == nullptr) return {};
    if (stored->suspended) continue;
    acknowledged = std::min(acknowledged, std::max(stored->acked, stored->gates_from));
  }
  return acknowledged;
}

std::string state_of(const RequiredObserver& observer) {
  if (observer.suspended()) return "suspended";
  return observer.attached() ? "attached" : "absent";
}

}  // namespace

ObserverChain::ObserverChain(const std::vector<std::string>& names,
                             bool new_from_start,
                             const Store& store,
                             ObserverBounds bounds,
                             const std::map<std::string, std::uint64_t>& skip_after) {
  const ControlState control = store.control();
  const Position before = acknowledged_before(control, store.last());
  recorded_order_ = control.observers;
  for (const std::string& name : names) {
    const bool continued = contains(control.observers, name);
    const AckInfo* info = stored_of(control, name);
    const AckInfo stored = info == nullptr ? AckInfo{} : *info;
    const Position oldest{store.earliest().value - 1};
    const Position fresh = new_from_start ? oldest : before;
    const Position acked = std::max(info == nullptr ? fresh : stored.acked, oldest);
    const Position gates_from = continued ? stored.gates_from : before;
    const auto policy = skip_after.find(name);
    bounds.skip_after = policy == skip_after.end() ? 0 : policy->second;
    Place& place = observers_.emplace_back(
        Place{.observer = {name, acked, gates_from, bounds}, .stored_gate = stored.gates_from});
    if (info != nullptr) place.stored = stored.acked;
    place.observer.restore(stored.skipped, stored.suspended);
  }
  for (const AckInfo& ack : control.acks) {
    if (!contains(names, ack.observer)) retired_.push_back(ack);
  }
}

void ObserverChain::record_start(Admission& admission) const {
  std::vector<std::string> names;
  for (const Place& place : observers_)
    names.push_back(place.observer.name());
  for (const Place& place : observers_) {
    const RequiredObserver& observer = place.observer;
    if (observer.acked() != place.stored) {
      admission.control(
          {.kind = RecordKind::ack, .number = observer.acked().value}, observer.name(), {});
    }
    if (observer.gates_from() > std::max(place.stored_gate, observer.acked())) {
      admission.control(
          {.kind = RecordKind::gate, .number = observer.gates_from().value}, observer.name(), {});
    }
  }
  if (names == recorded_order_) return;
  std::string order;
  for (const std::string& name : names)
    order += name + "\n";
  const ByteView bytes = as_bytes(order);
  admission.control({.kind = RecordKind::observers}, {}, Bytes(bytes.begin(), bytes.end()));
}

std::size_t ObserverChain::advance(Position committed,
                                   Instant now,
                                   const Backlog& backlog,
                                   ObserverSink* sink) {
  if (sink == nullptr) return 0;
  std::size_t work = 0;
  Position limit = committed;
  for (Place& place : observers_) {
    if (!place.trouble_until || *place.trouble_until <= now) {
      auto handed_over = place.observer.advance(limit, now, backlog, *sink);
      if (handed_over) {
        work += *handed_over;
        place.trouble_until.reset();
        place.trouble.clear();
      } else {
        place.trouble = describe(handed_over.error());
        place.trouble_until = now + trouble_delay;
      }
    }
    limit = std::min(limit, place.observer.gate());
  }
  return work;
}

Position ObserverChain::acknowledged(Position committed) const {
  for (const Place& place : observers_)
    committed = std::min(committed, place.observer.gate());
  return committed;
}

RequiredObserver* ObserverChain::find(const std::string& name) {
  const auto found = std::ranges::find_if(
      observers_, [&](const Place& place) { return place.observer.name() == name; });
  return found == observers_.end() ? nullptr : &found->observer;
}

const RequiredObserver* ObserverChain::late_for(Position position) const {
  const auto found = std::ranges::find_if(
      observers_, [&](const Place& place) { return place.observer.gate() < position; });
  return found == observers_.end() ? nullptr : &found->observer;
}

void ObserverChain::ack_moved(Instant now) {
  if (!acks_due_) acks_due_ = now + limits::ack_store_delay;
}

void ObserverChain::record_acks(Admission& admission) {
  acks_due_.reset();
  for (Place& place : observers_) {
    const Position acked = place.observer.acked();
    if (acked == place.stored) continue;
    admission.control({.kind = RecordKind::ack, .number = acked.value}, place.observer.name(), {});
    place.stored = acked;
  }
}

std::optional<Instant> ObserverChain::next_due() const {
  std::optional<Instant> due = acks_due_;
  const auto earlier = [&](std::optional<Instant> other) {
    if (other && (!due || *other < *due)) due = other;
  };
  for (const Place& place : observers_) {
    earlier(place.observer.next_due());
    earlier(place.trouble_until);
  }
  return due;
}

std::vector<wire::ObserverRow> ObserverChain::rows(Position committed) const {
  std::vector<wire::ObserverRow> rows;
  for (const Place& place : observers_) {
    const RequiredObserver& observer = place.observer;
    rows.push_back({.observer = observer.name(),
                    .state = state_of(observer),
                    .epoch = observer.epoch(),
                    .acked = observer.acked(),
                    .owed = committed.value - std::min(committed, observer.acked()).value,
                    .in_flight = observer.in_flight_events(),
                    .redeliveries = observer.redeliveries(),
                    .refusals = observer.refusals(),
                    .skipped = observer.skipped()});
  }
  for (const AckInfo& ack : retired_) {
    rows.push_back(
        {.observer = ack.observer, .state = "retired", .acked = ack.acked, .skipped = ack.skipped});
  }
  return rows;
}

}  // namespace runwire
