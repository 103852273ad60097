#pragma once

#include "bus/zmq/socket.hpp"
#include "codec/wire/event_codec.hpp"
#include "codec/wire/messages.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace runwire::test {

/// One event of a made-up log: durable at `place`, or ephemeral behind it. One subject, whose
/// sequences are the positions.
struct Made {
  std::uint64_t place = 0;
  bool durable = true;
  std::uint64_t number = 0;  ///< Tells ephemeral ones apart.
};

inline void encode_made(const Made& made, Bytes& out) {
  Event event;
  event.id.bytes[6] = std::byte{0x70};
  event.id.bytes[8] = std::byte{0x80};
  for (std::size_t at = 0; at < 4; ++at) {
    event.id.bytes.at(15 - at) =
        static_cast<std::byte>(((made.durable ? made.place : made.number) >> (8 * at)) & 0xffU);
  }
  event.type = "acme.made";
  event.time = 1'790'000'000'000'000;
  event.subject = "run-1";
  event.data = R"({"number":)" + std::to_string(made.number) + R"(,"place":)" +
               std::to_string(made.place) + "}";
  if (made.durable) event.durable = Durable{.version = 1, .seq = Sequence{made.place}};
  REQUIRE(wire::encode_event(event, out));
}

struct Framed {
  wire::Span span{};
  bus::Frame events{};
};

/// Events as a page or a live message has them.
inline Framed framed(const std::vector<Made>& events) {
  Framed made;
  Bytes bytes;
  for (const Made& event : events) {
    encode_made(event, bytes);
    ++made.span.count;
    if (!event.durable) continue;
    if (made.span.first.value == 0) made.span.first = Position{event.place};
    made.span.last = Position{event.place};
  }
  made.events = bus::Frame(std::move(bytes));
  return made;
}

/// Durable events `first` to `last`.
inline std::vector<Made> made_up(std::uint64_t first, std::uint64_t last) {
  std::vector<Made> events;
  for (std::uint64_t place = first; place <= last; ++place)
    events.push_back({.place = place});
  return events;
}

}  // namespace runwire::test
