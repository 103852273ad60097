#include "bus/source/counters.hpp"

#include <string>

namespace runwire::bus {

std::vector<Fact> facts_of(const Counters& counters) {
  std::vector<Fact> facts;
  const auto say = [&](std::string_view name, const Counter& counter) {
    facts.push_back({std::string(name), counter.get()});
  };
  const LiveCounters& live = counters.live;
  say("live.batches", live.batches);
  say("live.batches_dropped", live.batches_dropped);
  say("live.messages", live.messages);
  say("live.events", live.events);
  say("live.beacons", live.beacons);
  say("live.topics", live.topics);
  say("live.subscriptions", live.subscriptions);
  say("live.subscriptions_refused", live.subscriptions_refused);
  say("live.send_failed", live.send_failed);
  say("live.lookup_failed", live.lookup_failed);
  const ObserverCounters& observers = counters.observers;
  say("observers.attached", observers.attached);
  say("observers.deliveries", observers.deliveries);
  say("observers.superseded", observers.superseded);
  say("observers.commands_dropped", observers.commands_dropped);
  say("observers.fenced", observers.fenced);
  say("observers.acks", observers.acks);
  say("observers.acks_bad", observers.acks_bad);
  const RequestCounters& requests = counters.requests;
  say("requests.received", requests.requests);
  say("requests.bad", requests.bad);
  say("requests.pages", requests.pages);
  say("requests.page_events", requests.page_events);
  say("requests.reads_refused", requests.reads_refused);
  say("requests.waiting_reads", requests.waiting);
  say("requests.outstanding", requests.outstanding);
  say("requests.replies_dropped", requests.replies_dropped);
  say("requests.replies_misaddressed", requests.replies_misaddressed);
  return facts;
}

}  // namespace runwire::bus
