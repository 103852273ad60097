#pragma once

#include <cstddef>
#include <string>

/// The product under load, in this process: what bench programs measure.
namespace runwire::bench {

/// Durable appends from `threads` callers, each with a window of unanswered ones. Events a second.
double append_in_process(const std::string& directory, std::size_t threads, std::size_t events);

struct WireLoad {
  std::size_t request_events = 256;
  std::size_t events = 100'000;
  std::size_t in_flight = 16;  ///< Requests.
  bool observer = false;       ///< One required observer acks; receipts are `acknowledged`.
};
/// Appends over the wire by one pipelined client; every event is synced before its receipt.
double append_over_wire(const std::string& directory, const WireLoad& load);

/// Reads `events` from the start of a log over the wire and decodes each.
double replay_over_wire(const std::string& directory, std::size_t events);

/// Appends `events` while one live reader follows; until the reader has the last.
double live_to_one(const std::string& directory, std::size_t events);

}  // namespace runwire::bench
