#include "codec/wire/messages.hpp"
#include "fuzz/require.hpp"

using namespace runwire;
using fuzz::require;

/// A request is refused with an error, or understood: written again it is a request that reads the
/// same. Its address, where it could be read, stays within its bounds.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  wire::Addressed addressed;
  const auto request = wire::decode_request(fuzz::input(data, size), addressed);
  require(addressed.op.size() <= 32, "an operation's name is bounded");
  require(addressed.rid <= exact_integer_max, "a number stays below 2^53");
  if (!request) return 0;
  require(addressed.rid == request->rid, "the address is the request's");
  require(addressed.op == wire::name_of(request->operation), "the operation is the request's");
  Bytes once = wire::encode(*request);
  if (fuzz::bug("trailing-byte")) once.push_back(std::byte{0xc0});
  wire::Addressed addressed_again;
  const auto again = wire::decode_request(once, addressed_again);
  require(again.has_value(), "what was understood can be written and read");
  require(wire::encode(*again) == once, "and reads the same");
  return 0;
}
