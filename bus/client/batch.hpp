#pragma once

#include "bus/zmq/socket.hpp"
#include "codec/base/result.hpp"
#include "codec/event/event.hpp"
#include "codec/wire/messages.hpp"

#include <cstdint>
#include <vector>

namespace runwire::client {

/// The events of one page or message, each with its place: a sequence where one subject is read, a
/// position where the whole log is. The views point into `frame`.
struct Batch {
  bus::Frame frame{};
  std::vector<EventView> events{};
  std::vector<std::uint64_t> places{};  ///< One for each event; an ephemeral one has 0.
  std::vector<Position> positions{};    ///< The same, positions.
  std::uint64_t prev = 0;               ///< The place before the first event.

  [[nodiscard]] std::size_t bytes() const {
    return frame.size() + places.size() * sizeof(EventView);
  }
};

/// Decodes the frame and gives each event its places. `invalid` where header and events contradict
/// each other: another number of events, places that do not grow one by one from `prev`.
[[nodiscard]] Result<Batch> make_batch(bus::Frame frame,
                                       const wire::Span& span,
                                       bool whole_log,
                                       std::uint64_t prev);

}  // namespace runwire::client
