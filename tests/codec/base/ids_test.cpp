#include "codec/base/ids.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace runwire;

TEST_CASE("ids: a text form leads back to the same sixteen bytes", "[ids]") {
  const std::string text = "0190163d-8694-739b-aea5-966c26f8ad91";
  const auto bytes = uuid_from_text(text);
  REQUIRE(bytes);
  CHECK((*bytes)[0] == std::byte{0x01});
  CHECK((*bytes)[15] == std::byte{0x91});
  CHECK(uuid_text(*bytes) == text);
  const auto upper = uuid_from_text("0190163D-8694-739B-AEA5-966C26F8AD91");
  REQUIRE(upper);
  CHECK(*upper == *bytes);
}

TEST_CASE("ids: what is not 8-4-4-4-12 hexadecimal digits is invalid", "[ids]") {
  for (const char* text : {
           "",
           "0190163d-8694-739b-aea5-966c26f8ad9",
           "0190163d-8694-739b-aea5-966c26f8ad911",
           "0190163d8694739baea5966c26f8ad91",
           "0190163d-8694-739b-aea5-966c26f8ad9g",
           "0190163d-8694-739b-aea5_966c26f8ad91",
           "0190163d86-94-739b-aea5-966c26f8ad91",
           "{190163d-8694-739b-aea5-966c26f8ad91}",
           "-190163d-8694-739b-aea5-966c26f8ad91",
       }) {
    INFO(text);
    const auto bytes = uuid_from_text(text);
    REQUIRE_FALSE(bytes);
    CHECK(bytes.error().code == ErrorCode::invalid);
  }
  CHECK(uuid_from_text(std::string(100'000, 'x')).error().message.size() < 256);
}

TEST_CASE("ids: an event id is a UUIDv7 of its moment", "[ids]") {
  SystemIds ids;
  constexpr WallMicros moment = 1'700'000'000'123'456;
  const EventId id = ids.event_id(moment);
  std::uint64_t millis = 0;
  for (std::size_t at = 0; at < 6; ++at) {
    millis = millis << 8 | std::to_integer<std::uint64_t>(id.bytes.at(at));
  }
  CHECK(millis == moment / 1000);
  CHECK((id.bytes[6] & std::byte{0xf0}) == std::byte{0x70});
  CHECK((id.bytes[8] & std::byte{0xc0}) == std::byte{0x80});
  CHECK(to_string(id)[14] == '7');
}

TEST_CASE("ids: ids of one moment differ, over the end of a random block too", "[ids]") {
  SystemIds ids;
  std::set<EventId> seen;
  constexpr std::size_t rounds = 1000;
  for (std::size_t round = 0; round < rounds; ++round)
    seen.insert(ids.event_id(1'000'000));
  CHECK(seen.size() == rounds);
  CHECK(ids.log_id() != ids.log_id());
  CHECK(ids.instance_id() != ids.instance_id());
}

TEST_CASE("ids: event ids of later moments sort behind earlier ones", "[ids]") {
  SystemIds ids;
  EventId last = ids.event_id(1'000);
  for (WallMicros millis = 2; millis < 300; ++millis) {
    const EventId id = ids.event_id(millis * 1000);
    CHECK(last < id);
    last = id;
  }
}
