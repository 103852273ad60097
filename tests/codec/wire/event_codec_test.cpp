#include "codec/wire/event_codec.hpp"

#include "tests/codec/wire/event_samples.hpp"

#include <catch2/catch.hpp>

using namespace runwire;
using namespace runwire::wire;
using test::bare_event;
using test::bytes_of;
using test::decoded;
using test::encoded;
using test::full_event;

TEST_CASE("event codec: the bytes of an event are those of the page", "[wire][event]") {
  std::string bytes("\x87\xa2id\xc4\x10", 6);
  for (char at = 1; at <= 16; ++at)
    bytes += at;
  bytes += "\xa4type\xacturn.started";
  bytes += std::string_view("\xa4time\xcf\x00\x06\x0a\x24\x18\x1e\x40\x00", 14);
  bytes += "\xa8location\x82\xa4host\xa2h1\xa4node\xa3n-1";
  bytes += "\xa7subject\xa5run-1";
  bytes += std::string_view(
      "\xa7"
      "durable\x82\xa7version\x01\xa3seq\xcf\x00\x00\x00\x00\x00\x00\x00\x07",
      31);
  bytes +=
      "\xa4"
      "data\xaa{\"turn\":1}";
  CHECK(encoded(full_event()) == bytes_of(bytes));
}

TEST_CASE("event codec: what is encoded comes back, field by field", "[wire][event]") {
  CHECK(decoded(encoded(full_event())) == full_event());
  CHECK(decoded(encoded(bare_event())) == bare_event());
  Event event = full_event();
  event.unknown = bytes_of("\xa3new\x01\xa2zz\x93\xc0\xc3\xa1x");
  CHECK(decoded(encoded(event)) == event);
  std::size_t offset = 0;
  const Bytes bytes = encoded(event);
  const auto view = decode_event(bytes, offset);
  REQUIRE(view);
  CHECK(view->type == event.type);
  CHECK(view->subject == event.subject);
  CHECK(view->data == event.data);
  CHECK(Bytes(view->unknown.begin(), view->unknown.end()) == event.unknown);
  CHECK(view->location.front() == std::byte{0x82});
}

TEST_CASE("event codec: any valid event survives, and its bytes are the same each time",
          "[wire][event]") {
  const auto seed = Catch::rngSeed();
  INFO("seed " << seed);
  test::EventSamples samples(seed);
  for (int round = 0; round < 500; ++round) {
    const Event event = samples.next();
    const Bytes bytes = encoded(event);
    const Event back = decoded(bytes);
    CHECK(back == event);
    CHECK(encoded(back) == bytes);
  }
}

TEST_CASE("event codec: the order in which a location was given does not show", "[wire][event]") {
  Event event = full_event();
  event.location = {{"node", "n"}, {"a", "2"}, {"Z", "1"}, {"\xc3\xa9", ""}};
  const Bytes bytes = encoded(event);
  std::ranges::sort(event.location);
  CHECK(encoded(event) == bytes);
  CHECK(decoded(bytes).location == event.location);
}

TEST_CASE("event codec: an encoding is put behind what is there", "[wire][event]") {
  Bytes out = bytes_of("before");
  const auto stamps = encode_event(full_event(), out);
  REQUIRE(stamps);
  CHECK(Bytes(out.begin(), out.begin() + 6) == bytes_of("before"));
  CHECK(Bytes(out.begin() + 6, out.end()) == encoded(full_event()));
}

TEST_CASE("event codec: a stamp changes time and sequence and nothing else", "[wire][event]") {
  const auto seed = Catch::rngSeed();
  INFO("seed " << seed);
  test::EventSamples samples(seed);
  for (int round = 0; round < 200; ++round) {
    Event event = samples.next();
    Bytes bytes;
    const auto stamps = encode_event(event, bytes);
    REQUIRE(stamps);
    CHECK((stamps->seq_at != 0) == event.durable.has_value());
    stamp(bytes, *stamps, 1234567, Sequence{exact_integer_max});
    event.time = 1234567;
    if (event.durable) event.durable->seq = Sequence{exact_integer_max};
    CHECK(bytes == encoded(event));
    CHECK(decoded(bytes) == event);
  }
}

TEST_CASE("event codec: an event without its number is encoded, stamped, and only then decoded",
          "[wire][event]") {
  Event event = full_event();
  event.durable->seq = Sequence{};
  Bytes bytes;
  const auto stamps = encode_event(event, bytes);
  REQUIRE(stamps);
  std::size_t offset = 0;
  CHECK_FALSE(decode_event(bytes, offset));
  CHECK(offset == 0);
  stamp(bytes, *stamps, event.time, Sequence{1});
  CHECK(decode_event(bytes, offset));
  CHECK(offset == bytes.size());
}

TEST_CASE("event codec: a frame is its events back to back", "[wire][event]") {
  Bytes frame;
  REQUIRE(encode_event(full_event(), frame));
  const std::size_t first = frame.size();
  REQUIRE(encode_event(bare_event(), frame));
  const auto events = decode_events(frame);
  REQUIRE(events);
  REQUIRE(events->size() == 2);
  CHECK((*events)[0].encoded.size() == first);
  CHECK((*events)[1].encoded.data() == frame.data() + first);
  CHECK(to_event((*events)[1]) == bare_event());

  frame.push_back(std::byte{0x80});
  const auto behind = decode_events(frame);
  REQUIRE_FALSE(behind);
  CHECK(behind.error().number("event") == 2U);
}

TEST_CASE("event codec: a digest is of the content, without time and sequence", "[wire][event]") {
  const auto digest = [](const Event& event) {
    const Bytes bytes = encoded(event);
    std::size_t offset = 0;
    const auto view = decode_event(bytes, offset);
    REQUIRE(view);
    return content_digest(*view);
  };
  const auto seed = Catch::rngSeed();
  INFO("seed " << seed);
  test::EventSamples samples(seed);
  for (int round = 0; round < 200; ++round) {
    const Event event = samples.next();
    Event later = event;
    later.time = event.time == 1 ? 2 : 1;
    if (later.durable) later.durable->seq = next(event.durable->seq);
    CHECK(digest(later) == digest(event));
  }
  const Event event = full_event();
  std::vector<Event> others(7, event);
  others[0].id.bytes[15] = std::byte{0};
  others[1].type = "turn.completed";
  others[2].location[0].second = "h2";
  others[3].subject = "run-2";
  others[4].durable->version = 2;
  others[5].data = R"({"turn":2})";
  others[6].unknown = bytes_of("\xa1x\x01");
  for (const Event& other : others)
    CHECK(digest(other) != digest(event));
}

TEST_CASE("event codec: a digest does not depend on where in a frame the event is",
          "[wire][event]") {
  Bytes frame;
  REQUIRE(encode_event(bare_event(), frame));
  REQUIRE(encode_event(full_event(), frame));
  REQUIRE(encode_event(full_event(), frame));
  const auto events = decode_events(frame);
  REQUIRE(events);
  CHECK(content_digest((*events)[1]) == content_digest((*events)[2]));
  CHECK(content_digest((*events)[0]) != content_digest((*events)[1]));
}
