#include "tests/codec/wire/event_samples.hpp"
#include "tests/codec/wire/raw_event.hpp"

#include <catch2/catch.hpp>

using namespace runwire;
using namespace runwire::wire;
using namespace runwire::test;

TEST_CASE("event decoder: cut at any byte it is an error and never an event", "[wire][hostile]") {
  Pairs pairs = good();
  pairs.emplace_back("\xa1x",
                     "\x92\x01\xa3"
                     "abc");
  for (const std::string& whole : {event_of(good()), event_of(pairs)}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      // A buffer of its own, so that a sanitiser sees a read behind it.
      const Bytes cut = bytes_of(std::string_view(whole).substr(0, size));
      std::size_t offset = 0;
      CHECK_FALSE(decode_event(cut, offset));
      CHECK(offset == 0);
    }
  }
}

TEST_CASE("event decoder: C24 a length that is not there is refused at once", "[wire][hostile]") {
  for (const std::string& value : {bytes("\xdb\xff\xff\xff\xff"),
                                   bytes("\xc6\xff\xff\xff\xff"),
                                   bytes("\xdd\xff\xff\xff\xff"),
                                   bytes("\xdf\xff\xff\xff\xff"),
                                   bytes("\xda\xff\xff"),
                                   bytes("\xc9\xff\xff\xff\xff\x01")}) {
    for (std::size_t at = 0; at <= data_at; ++at) {
      std::size_t offset = 0;
      CHECK_FALSE(decode_event(as_bytes(event_of(with_value(at, value))), offset));
    }
    Pairs pairs = good();
    pairs.emplace_back("\xa1x", value);
    check_refused(event_of(pairs));
  }
  std::size_t offset = 0;
  CHECK_FALSE(decode_event(as_bytes(bytes("\xdf\xff\xff\xff\xff\xa2id")), offset));
  offset = 5;
  CHECK_FALSE(decode_event(as_bytes("abc"), offset));
  CHECK(offset == 5);
}

TEST_CASE("event decoder: C23 nesting without end is refused at its bound", "[wire][hostile]") {
  for (const char open : {'\x91', '\x81'}) {
    Pairs pairs = good();
    pairs.emplace_back("\xa1x", std::string(100'000, open));
    check_refused(event_of(pairs), ErrorCode::too_large);
  }
}

TEST_CASE("event decoder: spoilt in any way it answers, and what it takes is canonical",
          "[wire][hostile]") {
  const auto seed = Catch::rngSeed();
  INFO("seed " << seed);
  EventSamples samples(seed);
  std::size_t refused = 0;
  for (int round = 0; round < 5000; ++round) {
    Bytes bytes = encoded(round % 10 == 0 ? samples.next() : full_event());
    for (std::uint64_t changes = 1 + samples.below(3); changes > 0; --changes) {
      bytes.at(samples.below(bytes.size())) = static_cast<std::byte>(samples.below(256));
    }
    std::size_t offset = 0;
    const auto view = decode_event(bytes, offset);
    if (!view) {
      ++refused;
      continue;
    }
    const auto event = to_event(*view);
    REQUIRE(event);
    const Bytes taken(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    CHECK(encoded(*event) == taken);
  }
  CHECK(refused > 0);
}
