#include "codec/event/upcasts.hpp"

#include "codec/base/limits.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace runwire;

namespace {

Event idea(std::uint32_t version, std::string data) {
  Event event;
  event.type = "notes.idea";
  event.subject = "run-1";
  event.time = 7;
  event.location = {{"node", "a"}};
  event.durable = Durable{.version = version, .seq = {3}};
  event.data = std::move(data);
  event.unknown = Bytes{std::byte{0xa1}, std::byte{0x78}, std::byte{0x01}};
  return event;
}

Upcasts::Step wraps(std::string key) {
  return [key = std::move(key)](std::string_view data) -> Result<std::string> {
    return "{\"" + key + "\" : " + std::string(data) + "}";
  };
}

Upcasts two_steps() {
  Upcasts upcasts;
  REQUIRE(upcasts.add("notes.idea", 1, wraps("two")));
  REQUIRE(upcasts.add("notes.idea", 2, wraps("three")));
  return upcasts;
}

}  // namespace

TEST_CASE("upcasts: C36 old data comes up to date, step by step, and nothing else changes",
          "[event]") {
  const Upcasts upcasts = two_steps();
  CHECK(upcasts.newest("notes.idea") == 3);
  const auto found = upcasts.apply(idea(1, "1"));
  REQUIRE(found);
  CHECK(*found == idea(3, R"({"three":{"two":1}})"));
  CHECK(upcasts.apply(idea(2, "1")) == idea(3, R"({"three":1})"));
}

TEST_CASE("upcasts: C36 the newest, what is newer, and what has no steps stay as they are",
          "[event]") {
  const Upcasts upcasts = two_steps();
  for (const std::uint32_t version : {3U, 4U, 4294967295U}) {
    const Event event = idea(version, R"({"a":1})");
    CHECK(upcasts.apply(event) == event);
  }
  Event other = idea(1, "1");
  other.type = "notes.other";
  CHECK(upcasts.apply(other) == other);
  Event live = idea(1, "1");
  live.durable.reset();
  CHECK(upcasts.apply(live) == live);
  CHECK(upcasts.newest("notes.other") == 0);
}

TEST_CASE("upcasts: what is older than the first step is an error that says so", "[event]") {
  Upcasts upcasts;
  REQUIRE(upcasts.add("notes.idea", 5, wraps("six")));
  const auto found = upcasts.apply(idea(4, "1"));
  REQUIRE_FALSE(found);
  CHECK(found.error().code == ErrorCode::unsupported);
  CHECK(found.error().number("version") == 4U);
  CHECK(found.error().number("supported") == 5U);
}

TEST_CASE("upcasts: a step that fails, or makes what is no JSON, names type and version",
          "[event]") {
  Upcasts upcasts = two_steps();
  REQUIRE(upcasts.add(
      "notes.idea", 3, [](std::string_view) -> Result<std::string> { return "{\"half"; }));
  const auto broken = upcasts.apply(idea(1, "1"));
  REQUIRE_FALSE(broken);
  CHECK(broken.error().code == ErrorCode::invalid);
  CHECK(broken.error().text("type") == "notes.idea");
  CHECK(broken.error().number("version") == 3U);
}

TEST_CASE("upcasts: steps follow each other without a gap", "[event]") {
  Upcasts upcasts = two_steps();
  for (const std::uint32_t from : {0U, 1U, 2U, 4U, 4294967295U})
    CHECK_FALSE(upcasts.add("notes.idea", from, wraps("x")));
  CHECK_FALSE(upcasts.add("No Type", 1, wraps("x")));
  CHECK(upcasts.add("notes.idea", 3, wraps("x")));
  CHECK_FALSE(Upcasts().add("notes.idea", 4294967295U, wraps("x")));
}

TEST_CASE("upcasts: the table has a bound", "[event]") {
  Upcasts upcasts;
  for (std::uint32_t from = 1; from <= limits::upcast_steps_max; ++from)
    REQUIRE(upcasts.add("notes.idea", from, wraps("x")));
  const auto beyond = upcasts.add("notes.other", 1, wraps("x"));
  REQUIRE_FALSE(beyond);
  CHECK(beyond.error().code == ErrorCode::too_large);
}
