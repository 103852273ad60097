#pragma once

#include "codec/base/limits.hpp"
#include "codec/base/strong.hpp"
#include "codec/wire/event_codec.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace runwire::test {

inline Bytes bytes_of(std::string_view text) {
  const ByteView view = as_bytes(text);
  return {view.begin(), view.end()};
}

/// A durable event with every optional field.
inline Event full_event() {
  Event event;
  for (std::size_t at = 0; at < 16; ++at)
    event.id.bytes.at(at) = static_cast<std::byte>(at + 1);
  event.type = "turn.started";
  event.time = 1'700'000'000'000'000;
  event.location = {{"host", "h1"}, {"node", "n-1"}};
  event.subject = "run-1";
  event.durable = Durable{.version = 1, .seq = Sequence{7}};
  event.data = R"({"turn":1})";
  return event;
}

/// The least that an event can be: ephemeral, without a subject.
inline Event bare_event() {
  Event event;
  event.type = "a";
  event.data = "0";
  return event;
}

inline Bytes encoded(const Event& event) {
  Bytes bytes;
  const auto stamps = wire::encode_event(event, bytes);
  if (!stamps) FAIL(describe(stamps.error()));
  return bytes;
}

/// The one event of a frame, which ends with it.
inline Event decoded(ByteView frame) {
  std::size_t offset = 0;
  const auto view = wire::decode_event(frame, offset);
  if (!view) FAIL(describe(view.error()));
  CHECK(offset == frame.size());
  CHECK(view->encoded.size() == frame.size());
  const auto event = wire::to_event(*view);
  REQUIRE(event);
  return *event;
}

/// Random valid events. Replay: the same seed gives the same events.
class EventSamples {
 public:
  explicit EventSamples(std::uint64_t seed) : random_(seed) {}

  Event next() {
    Event event;
    for (std::byte& byte : event.id.bytes)
      byte = static_cast<std::byte>(below(256));
    event.type = text("abcz_09", 1, limits::type_bytes_max, "a");
    event.time = exact();
    if (chance()) event.location = location();
    if (chance()) event.subject = text("ABZaz09._~-", 1, limits::subject_bytes_max, "");
    if (!event.subject.empty() && chance()) {
      event.durable = Durable{.version = static_cast<std::uint32_t>(1 + (exact() % 0xffff'ffffULL)),
                              .seq = Sequence{std::max<std::uint64_t>(exact(), 1)}};
    }
    event.data = "\"" + text("ab \xc3\xa9", 0, chance() ? 40 : 70'000, "") + "\"";
    if (chance()) event.unknown = unknown();
    return event;
  }
  std::uint64_t below(std::uint64_t end) { return random_() % end; }

 private:
  bool chance() { return below(2) == 1; }
  std::uint64_t exact() { return (random_() & exact_integer_max) >> below(53); }

  /// Characters of `letters` (a two-byte one is its last), behind `first`.
  std::string text(std::string_view letters,
                   std::size_t least,
                   std::size_t most,
                   std::string_view first) {
    const bool wide = letters.ends_with("\xa9");
    std::string made(first);
    const std::size_t size = std::max<std::size_t>(least, below(most));
    while (made.size() + 2 <= size || made.size() < least) {
      const std::size_t at = below(letters.size() - (wide ? 1 : 0));
      made += letters.substr(at, wide && at == letters.size() - 2 ? 2 : 1);
    }
    return made;
  }

  Location location() {
    Location entries;
    const std::size_t size = 1 + below(limits::location_entries_max);
    for (std::size_t at = 0; at < size; ++at) {
      entries.emplace_back(
          std::string(1, static_cast<char>('a' + at)) + text("xyz\xc3\xa9", 0, 62, ""),
          text("v \xc3\xa9", 0, limits::location_value_bytes_max, ""));
    }
    std::ranges::sort(entries);
    return entries;
  }

  /// Pairs of a newer peer: `x0: nil`, `x1: [1, {"k": bin}]` and so on, in no order.
  Bytes unknown() {
    static constexpr std::array<std::string_view, 4> values{{"\xc0",
                                                             {"\x92\x01\x81\xa1k\xc4\x01\x00", 8},
                                                             "\xcb\x3f\xf8\x01\x01\x01\x01\x01\x01",
                                                             "\xd1\xff\x01"}};
    std::string pairs;
    const std::size_t size = 1 + below(20);
    for (std::size_t at = size; at > 0; --at) {
      pairs += "\xa3x";
      pairs += static_cast<char>('a' + at);
      pairs += static_cast<char>('a' + below(26));
      pairs += values.at(below(values.size()));
    }
    return bytes_of(pairs);
  }

  std::mt19937_64 random_;
};

}  // namespace runwire::test
