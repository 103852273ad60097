#include "codec/base/check.hpp"
#include "codec/wire/event_codec.hpp"
#include "codec/wire/event_keys.hpp"

#include <array>

#define XXH_STATIC_LINKING_ONLY  // The state on the stack, not one allocation an event.
#include <xxhash.h>

namespace runwire::wire {
namespace {

constexpr std::array<std::byte, 8> no_stamp{};

/// Where the stamps of an event that was decoded are: its fields have fixed places around them.
Stamps stamps_of(const EventView& view) {
  const auto behind = [&view](std::string_view text) {
    return static_cast<std::size_t>(as_bytes(text).data() + text.size() - view.encoded.data());
  };
  Stamps stamps;
  stamps.time_at = behind(view.type) + str_bytes(key_of(EventField::time)) + 1;
  if (view.durable) {
    stamps.seq_at = behind(view.subject) + str_bytes(key_of(EventField::durable)) + 1 +
                    str_bytes(version_key) + uint_bytes(view.durable->version) +
                    str_bytes(seq_key) + 1;
  }
  return stamps;
}

/// Hashes up to the stamp at `at`, then zeroes in its stead; returns what lies behind it.
ByteView hash_to_stamp(XXH3_state_t& state, ByteView encoded, std::size_t from, std::size_t at) {
  check(from <= at && at + no_stamp.size() <= encoded.size(), "a stamp lies inside its event");
  XXH3_64bits_update(&state, encoded.data() + from, at - from);
  XXH3_64bits_update(&state, no_stamp.data(), no_stamp.size());
  return encoded.subspan(at + no_stamp.size());
}

}  // namespace

std::uint64_t content_digest(const EventView& view) {
  const Stamps stamps = stamps_of(view);
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  ByteView rest = hash_to_stamp(state, view.encoded, 0, stamps.time_at);
  if (stamps.seq_at != 0) {
    rest = hash_to_stamp(state, view.encoded, stamps.time_at + no_stamp.size(), stamps.seq_at);
  }
  XXH3_64bits_update(&state, rest.data(), rest.size());
  return XXH3_64bits_digest(&state);
}

}  // namespace runwire::wire
