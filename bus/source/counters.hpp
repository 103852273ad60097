#pragma once

#include "codec/base/error.hpp"

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

namespace runwire::bus {

/// Numbers of the socket threads that `status` shows: written by one thread, read by any.
struct Counter {
  std::atomic<std::uint64_t> value{0};
  void add(std::uint64_t more = 1) noexcept { value.fetch_add(more, std::memory_order_relaxed); }
  void set(std::uint64_t now) noexcept { value.store(now, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t get() const noexcept { return value.load(std::memory_order_relaxed); }
};

struct LiveCounters {
  Counter batches{};
  Counter batches_dropped{};  ///< The queue from the core was full.
  Counter messages{};
  Counter events{};
  Counter beacons{};
  Counter topics{};  ///< Subscribed now.
  Counter subscriptions{};
  Counter subscriptions_refused{};
  Counter send_failed{};
  Counter lookup_failed{};
};

struct ObserverCounters {
  Counter attached{};
  Counter deliveries{};
  Counter superseded{};  ///< Never sent: a later delivery starts at or before it.
  Counter commands_dropped{};
  Counter fenced{};
  Counter acks{};
  Counter acks_bad{};
};

struct RequestCounters {
  Counter requests{};
  Counter bad{};
  Counter pages{};
  Counter page_events{};
  Counter reads_refused{};
  Counter waiting{};               ///< Reads that wait now.
  Counter outstanding{};           ///< Commands that the core has now.
  Counter replies_dropped{};       ///< The client was gone, or did not take its replies.
  Counter replies_misaddressed{};  ///< Another client had taken the routing id meanwhile.
};

struct Counters {
  LiveCounters live{};
  ObserverCounters observers{};
  RequestCounters requests{};
};

/// One fact a counter: `live.topics`, `requests.bad`.
[[nodiscard]] std::vector<Fact> facts_of(const Counters& counters);

}  // namespace runwire::bus
