#include "engine/store/open.hpp"
#include "tests/engine/store/scribe.hpp"
#include "tests/support/counting_ids.hpp"

#include <catch2/catch.hpp>

using namespace runwire;
using test::Scribe;

TEST_CASE("MemoryStore: the oldest go first, and their readers hear where to go on",
          "[store][memory]") {
  test::CountingIds ids;
  const auto store = make_memory_store({.log_events_max = 4}, ids);
  Scribe scribe;
  for (const char* name : {"a", "b", "a", "a", "b", "a"}) {
    scribe.event(name, name);
    REQUIRE(scribe.commit(*store));
  }
  CHECK(store->earliest() == Position{3});
  const auto expired = store->read_log({1}, {6}, {});
  REQUIRE_FALSE(expired);
  CHECK(expired.error().code == ErrorCode::cursor_expired);
  CHECK(expired.error().number("earliest") == 3);
  CHECK(expired.error().number("recovery") == 2);
  CHECK(store->read_log({2}, {6}, {})->entries.size() == 4);
  const auto subject = store->read_subject("a", {}, {6}, {});
  REQUIRE_FALSE(subject);
  CHECK(subject.error().number("earliest") == 2);
  CHECK(store->read_subject("a", {1}, {6}, {})->entries.size() == 3);
  CHECK((*store->find_subject("a"))->first_position == Position{3});
}

TEST_CASE("MemoryStore: the bytes are bounded too, and one event stays", "[store][memory]") {
  test::CountingIds ids;
  const auto store = make_memory_store({.log_bytes_max = 100}, ids);
  Scribe scribe;
  for (int at = 0; at < 3; ++at)
    scribe.event("a", std::string(40, 'x'));
  REQUIRE(scribe.commit(*store));
  CHECK(store->earliest() == Position{2});
  scribe.event("a", std::string(500, 'x'));
  REQUIRE(scribe.commit(*store));
  CHECK(store->earliest() == Position{4});
  CHECK(store->last() == Position{4});
}

TEST_CASE("MemoryStore: a subject's numbers outlive its events", "[store][memory]") {
  test::CountingIds ids;
  const auto store = make_memory_store({.log_events_max = 1}, ids);
  Scribe scribe;
  scribe.event("a", "1").event("a", "2").event("b", "3");
  REQUIRE(scribe.commit(*store));
  const auto info = store->find_subject("a");
  CHECK((*info)->last == Sequence{2});
  CHECK((*info)->first == Sequence{3});
}

TEST_CASE("MemoryStore: a batch with a hole is refused whole", "[store][memory]") {
  test::CountingIds ids;
  const auto store = make_memory_store({}, ids);
  const std::vector<Record> records{{.subject = "a", .position = {1}, .seq = {1}},
                                    {.subject = "a", .position = {3}, .seq = {2}}};
  const auto status = store->append(records);
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::internal);
  CHECK(store->last() == Position{0});
}

TEST_CASE("C43 MemoryStore: each run has its own bounds, and its end has room of its own",
          "[store][memory][bound]") {
  test::CountingIds ids;
  const auto store = make_memory_store({.run_events_max = 3, .run_bytes_max = 100}, ids);
  Scribe scribe;
  SECTION("by count") {
    for (int at = 0; at < 3; ++at)
      scribe.event("a", "x").event("b", "x");
    REQUIRE(scribe.commit(*store));
    CHECK(store->earliest() == Position{1});
    scribe.event("a", "end", RunState::completed);
    REQUIRE(scribe.commit(*store));
    CHECK((*store->find_subject("a"))->first == Sequence{1});
    scribe.event("b", "x");
    REQUIRE(scribe.commit(*store));
    CHECK((*store->find_subject("b"))->first == Sequence{2});
    CHECK(store->earliest() == Position{3});
  }
  SECTION("by bytes") {
    scribe.event("a", std::string(60, 'x')).event("a", std::string(40, 'x'));
    REQUIRE(scribe.commit(*store));
    CHECK((*store->find_subject("a"))->first == Sequence{1});
    scribe.event("a", std::string(5000, 'x'), RunState::failed);
    REQUIRE(scribe.commit(*store));
    CHECK((*store->find_subject("a"))->first == Sequence{1});
    scribe.event("b", std::string(60, 'x')).event("b", std::string(41, 'x'));
    REQUIRE(scribe.commit(*store));
    CHECK((*store->find_subject("b"))->first == Sequence{2});
  }
}

TEST_CASE("MemoryStore: a page ends before a hole, and the next read says where to go on",
          "[store][memory]") {
  test::CountingIds ids;
  const auto store = make_memory_store({.run_events_max = 2}, ids);
  Scribe scribe;
  scribe.event("quiet", "1");
  for (int at = 2; at <= 6; ++at)
    scribe.event("busy", std::to_string(at));
  REQUIRE(scribe.commit(*store));
  CHECK(store->earliest() == Position{5});
  const auto page = store->read_log({}, {6}, {});
  REQUIRE(page);
  CHECK(page->entries.size() == 1);
  CHECK(page->more);
  const auto hole = store->read_log({1}, {6}, {});
  REQUIRE_FALSE(hole);
  CHECK(hole.error().number("recovery") == 4);
  CHECK(store->read_log({4}, {6}, {})->entries.size() == 2);
  CHECK(store->read_subject("quiet", {}, {6}, {})->entries.size() == 1);
}

TEST_CASE("MemoryStore: subjects are bounded, and a refused batch leaves nothing",
          "[store][memory][bound]") {
  test::CountingIds ids;
  const auto store = make_memory_store({.subjects_max = 2}, ids);
  Scribe scribe;
  scribe.event("a", "1").event("b", "2");
  REQUIRE(scribe.commit(*store));
  scribe.event("a", "3").event("c", "4");
  const auto refused = scribe.commit(*store);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::store_full);
  CHECK(store->last() == Position{2});
  scribe.event("b", "3");
  CHECK(scribe.commit(*store));
}
