#pragma once

#include "codec/base/result.hpp"
#include "codec/event/event.hpp"

#include <cstddef>
#include <span>

namespace runwire::wire {

/// Where in an encoded event the engine writes the two numbers that it alone knows: offsets of
/// eight big-endian bytes from the event's first byte. `seq_at` is 0 for an ephemeral event.
struct Stamps {
  std::size_t time_at = 0;
  std::size_t seq_at = 0;
};

/// Appends the one deterministic encoding of `event` (docs/protocol.md, "Event") to `out`.
/// Checks every bound and form: type, subject, location, version, numbers, data size, unknown
/// fields (not that the data is canonical JSON: json::canonicalise has done that; an id is any 16
/// bytes). A sequence of 0 is taken: `stamp` writes the real one. `out` is unchanged on an error.
[[nodiscard]] Result<Stamps> encode_event(const Event& event, Bytes& out);

/// Writes time and sequence into an encoded event. Pre: `stamps` came from its encoding.
void stamp(std::span<std::byte> encoded, const Stamps& stamps, WallMicros time, Sequence seq);

/// Reads the event at `offset` of `frame` and moves `offset` behind it. Only the canonical encoding
/// is accepted (shortest forms, order of fields, 9-byte time and seq); anything else is `invalid`
/// or `too_large` and leaves `offset` alone. Allocates nothing that grows with the input.
[[nodiscard]] Result<EventView> decode_event(ByteView frame, std::size_t& offset);

/// All events of a frame, which must end with the last of them.
[[nodiscard]] Result<std::vector<EventView>> decode_events(ByteView frame);

/// An owned copy.
[[nodiscard]] Result<Event> to_event(const EventView& view);

/// The content of an event without time and seq, for idempotency: XXH3-64 over its encoding with
/// both stamps zeroed.
[[nodiscard]] std::uint64_t content_digest(const EventView& view);

}  // namespace runwire::wire
