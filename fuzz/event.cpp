#include "codec/wire/event_codec.hpp"
#include "fuzz/require.hpp"

#include <algorithm>

using namespace runwire;
using fuzz::require;

/// Decoding never fails other than with an error. What it takes is canonical: encoding it again
/// gives the same bytes, and a digest exists that stamps do not change.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView frame = fuzz::input(data, size);
  std::size_t offset = 0;
  while (offset < frame.size()) {
    const std::size_t begin = offset;
    const auto view = wire::decode_event(frame, offset);
    if (!view) {
      require(offset == begin, "an error leaves the offset alone");
      require(!wire::decode_events(frame), "a frame with a broken event is refused as a whole");
      return 0;
    }
    require(offset > begin && offset <= frame.size(),
            "an event has bytes, and they are of the frame");
    const auto event = wire::to_event(*view);
    require(event.has_value(), "what was decoded has an owned copy");
    Bytes again;
    const auto stamps = wire::encode_event(*event, again);
    require(stamps.has_value(), "what was decoded can be encoded");
    require(std::ranges::equal(again, frame.subspan(begin, offset - begin)),
            "the encoding is canonical");
    wire::stamp(again, *stamps, 1, Sequence{1});
    std::size_t start = 0;
    const auto stamped = wire::decode_event(again, start);
    require(stamped.has_value(), "a stamped event is an event");
    require(wire::content_digest(*stamped) == wire::content_digest(*view),
            "stamps are not content");
  }
  require(wire::decode_events(frame).has_value(), "a frame of whole events is taken");
  return 0;
}
