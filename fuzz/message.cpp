#include "codec/wire/messages.hpp"
#include "fuzz/require.hpp"

using namespace runwire;
using fuzz::require;

namespace {

/// Refused with an error, or understood: written again it is a message that reads the same.
template <class Decode>
void check_message(ByteView frame, Decode&& decode) {
  const auto message = decode(frame);
  if (!message) return;
  const Bytes once = wire::encode(*message);
  const auto again = decode(once);
  require(again.has_value(), "what was understood can be written and read");
  require(wire::encode(*again) == once, "and reads the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView frame = fuzz::input(data, size);
  check_message(frame, wire::decode_reply);
  check_message(frame, wire::decode_delivery);
  check_message(frame, wire::decode_ack);
  check_message(frame, wire::decode_live);
  return 0;
}
