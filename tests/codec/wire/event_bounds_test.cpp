#include "codec/base/limits.hpp"
#include "tests/codec/wire/event_samples.hpp"

#include <catch2/catch.hpp>

#include <functional>

using namespace runwire;
using namespace runwire::wire;
using test::bare_event;
using test::bytes_of;
using test::full_event;

namespace {

using Change = std::function<void(Event&)>;

void check_taken(const Change& change) {
  Event event = full_event();
  change(event);
  CHECK(test::decoded(test::encoded(event)) == event);
}

/// Refused when written, and `out` is as it was.
void check_refused(const Change& change, ErrorCode code, std::string_view field) {
  Event event = full_event();
  change(event);
  Bytes out = bytes_of("kept");
  const auto stamps = encode_event(event, out);
  REQUIRE_FALSE(stamps);
  INFO(describe(stamps.error()));
  CHECK(stamps.error().code == code);
  CHECK(stamps.error().message.find(field) != std::string::npos);
  CHECK(out == bytes_of("kept"));
}

std::string text_of(std::size_t bytes) {
  return "\"" + std::string(bytes - 2, 'x') + "\"";
}

/// `levels` lists in each other under one unknown key.
Bytes nested_unknown(std::size_t levels) {
  std::string pairs = "\xa1n";
  pairs.append(levels - 1, '\x91');
  return bytes_of(pairs + "\x90");
}

}  // namespace

TEST_CASE("event bounds: names hold their rules when an event is written", "[wire][event]") {
  check_taken([](Event& event) { event.type = std::string(limits::type_bytes_max, 'a'); });
  check_refused([](Event& event) { event.type = std::string(limits::type_bytes_max + 1, 'a'); },
                ErrorCode::too_large,
                "type");
  check_refused([](Event& event) { event.type = ""; }, ErrorCode::invalid, "type");
  check_refused([](Event& event) { event.type = "Upper"; }, ErrorCode::invalid, "type");
  check_taken([](Event& event) { event.subject = std::string(limits::subject_bytes_max, 's'); });
  check_refused(
      [](Event& event) { event.subject = std::string(limits::subject_bytes_max + 1, 's'); },
      ErrorCode::too_large,
      "subject");
  check_refused([](Event& event) { event.subject = "a/b"; }, ErrorCode::invalid, "subject");
  check_refused([](Event& event) { event.subject = ""; }, ErrorCode::invalid, "subject");
}

TEST_CASE("event bounds: numbers stay below 2^53 and a version is 1 .. 2^32-1", "[wire][event]") {
  check_taken([](Event& event) { event.time = 0; });
  check_taken([](Event& event) { event.time = exact_integer_max; });
  check_refused(
      [](Event& event) { event.time = exact_integer_max + 1; }, ErrorCode::invalid, "time");
  check_taken([](Event& event) { event.durable->seq = Sequence{exact_integer_max}; });
  check_refused([](Event& event) { event.durable->seq = Sequence{exact_integer_max + 1}; },
                ErrorCode::invalid,
                "seq");
  for (const std::uint32_t version : {1U, 127U, 128U, 255U, 256U, 65535U, 65536U, 0xffff'ffffU}) {
    check_taken([version](Event& event) { event.durable->version = version; });
  }
  check_refused([](Event& event) { event.durable->version = 0; }, ErrorCode::invalid, "version");
}

TEST_CASE("event bounds: data is 1 byte to 1 MiB of UTF-8", "[wire][event]") {
  for (const std::size_t bytes : {std::size_t{2},
                                  std::size_t{31},
                                  std::size_t{32},
                                  std::size_t{255},
                                  std::size_t{256},
                                  std::size_t{65535},
                                  std::size_t{65536},
                                  limits::data_bytes_max}) {
    check_taken([bytes](Event& event) { event.data = text_of(bytes); });
  }
  check_refused([](Event& event) { event.data = text_of(limits::data_bytes_max + 1); },
                ErrorCode::too_large,
                "data");
  check_refused([](Event& event) { event.data = ""; }, ErrorCode::invalid, "data");
  check_refused([](Event& event) { event.data = "\"\xff\""; }, ErrorCode::invalid, "data");
}

TEST_CASE("event bounds: a location has 8 entries, each key once and each within its bounds",
          "[wire][event]") {
  const auto entries = [](std::size_t size) {
    Location location;
    for (std::size_t at = 0; at < size; ++at) {
      location.emplace_back(std::string(1, static_cast<char>('a' + at)) + std::string(63, 'k'),
                            std::string(limits::location_value_bytes_max, 'v'));
    }
    return location;
  };
  check_taken([](Event& event) { event.location.clear(); });
  check_taken([&](Event& event) { event.location = entries(limits::location_entries_max); });
  check_refused([&](Event& event) { event.location = entries(limits::location_entries_max + 1); },
                ErrorCode::too_large,
                "location");
  check_refused([](Event& event) { event.location = {{std::string(65, 'k'), ""}}; },
                ErrorCode::too_large,
                "location");
  check_refused([](Event& event) { event.location = {{"k", std::string(257, 'v')}}; },
                ErrorCode::too_large,
                "location");
  check_refused([](Event& event) { event.location = {{"", "v"}}; }, ErrorCode::invalid, "location");
  check_refused([](Event& event) { event.location = {{"k", "1"}, {"j", ""}, {"k", "2"}}; },
                ErrorCode::invalid,
                "location");
  check_refused(
      [](Event& event) { event.location = {{"\xff", ""}}; }, ErrorCode::invalid, "location");
  check_refused(
      [](Event& event) { event.location = {{"k", "\xc3"}}; }, ErrorCode::invalid, "location");
}

TEST_CASE("event bounds: unknown fields are whole pairs of a text and anything but an extension",
          "[wire][event]") {
  const auto with = [](std::string_view pairs) {
    return [pairs](Event& event) { event.unknown = bytes_of(pairs); };
  };
  check_taken(with("\xa1x\x01"));
  check_taken(with("\xa0\xc0"));
  check_taken(with(std::string_view("\xa1z\xca\x00\x00\x00\x00\xa1y\xcd\x00\x01",
                                    12)));  // A value need not be shortest.
  for (const std::string_view pairs : {std::string_view("\xa1x"),
                                       std::string_view("\xa1"),
                                       std::string_view("\x01\x01"),
                                       std::string_view("\xa1x\xc1"),
                                       std::string_view("\xa1x\xd4\x01\x02"),
                                       std::string_view("\xa1x\x01\xa1x\x02"),
                                       std::string_view("\xa4type\x01"),
                                       std::string_view("\xa4"
                                                        "data\xa1x"),
                                       std::string_view("\xa1x\xa1\xff"),
                                       std::string_view("\xa1\xff\x01"),
                                       std::string_view("\xa1x\x92\x01"),
                                       std::string_view("\xd9\x01x\x01"),
                                       std::string_view("\xa1y\x01\xda\x00\x01x\x01", 9),
                                       std::string_view("\xd9\x00\x01", 3)}) {
    check_refused(with(pairs), ErrorCode::invalid, "unknown");
  }
}

TEST_CASE("event bounds: unknown fields are at most 4 KiB and 64 levels in all", "[wire][event]") {
  const auto sized = [](std::size_t bytes) {
    return [bytes](Event& event) {
      std::string pairs("\xa1x\xc5", 3);
      const std::size_t body = bytes - 5;
      pairs += static_cast<char>(body >> 8U);
      pairs += static_cast<char>(body & 0xffU);
      event.unknown = bytes_of(pairs + std::string(body, 'b'));
    };
  };
  check_taken(sized(limits::unknown_bytes_max));
  check_refused(sized(limits::unknown_bytes_max + 1), ErrorCode::too_large, "unknown");
  // The event's own map is the first level.
  check_taken([](Event& event) { event.unknown = nested_unknown(limits::depth_max - 1); });
  check_refused([](Event& event) { event.unknown = nested_unknown(limits::depth_max); },
                ErrorCode::too_large,
                "unknown");
}

TEST_CASE("event bounds: an event with everything at its bound is whole and within its own",
          "[wire][event]") {
  Event event = full_event();
  event.type = std::string(limits::type_bytes_max, 'a');
  event.subject = std::string(limits::subject_bytes_max, 's');
  event.location.clear();
  for (char key = 'a'; key < 'i'; ++key)
    event.location.emplace_back(std::string(64, key), std::string(256, 'v'));
  event.durable->version = 0xffff'ffffU;
  event.data = text_of(limits::data_bytes_max);
  std::string pairs;
  for (std::size_t at = 0; at < limits::unknown_bytes_max / 4; ++at) {
    pairs += "\xa2";
    pairs += static_cast<char>('A' + at / 32);
    pairs += static_cast<char>('A' + at % 32);
    pairs += "\xc0";
  }
  event.unknown = bytes_of(pairs);
  const Bytes bytes = test::encoded(event);
  CHECK(bytes.size() <= limits::event_bytes_max);
  CHECK(test::decoded(bytes) == event);
}

TEST_CASE("event bounds: a frame over the bytes of one message is refused before it is read",
          "[wire][event]") {
  const Bytes frame(limits::message_bytes_max + 1, std::byte{0x80});
  const auto events = decode_events(frame);
  REQUIRE_FALSE(events);
  CHECK(events.error().code == ErrorCode::too_large);
}
