#include "tests/engine/store/scribe.hpp"
#include "tests/engine/store/store_bench.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace runwire;
using test::Scribe;
using test::StoreBench;
using Kind = StoreBench::Kind;

namespace {

/// Whatever a store is made of, it behaves the same. Small segments, so that the files roll often.
struct Stage {
  StoreBench bench{GENERATE(Kind::memory, Kind::simulated, Kind::files)};
  std::unique_ptr<Store> store = bench.open();
  Scribe scribe{};

  /// Thirty events of three subjects, in batches of one to four.
  void write_thirty() {
    for (int at = 0, batch = 1; at < 30; batch = batch % 4 + 1) {
      for (int left = batch; left > 0 && at < 30; --left, ++at) {
        scribe.event("run-" + std::to_string(at % 3), std::string(100, 'x') + std::to_string(at));
      }
      REQUIRE(scribe.commit(*store));
    }
  }
};

std::vector<std::uint64_t> positions(const Page& page) {
  std::vector<std::uint64_t> found;
  for (const PageEntry& entry : page.entries)
    found.push_back(entry.position.value);
  return found;
}

std::vector<std::string> names(const std::vector<SubjectInfo>& infos) {
  std::vector<std::string> found;
  for (const SubjectInfo& info : infos)
    found.push_back(info.name);
  return found;
}

}  // namespace

TEST_CASE("Store: an empty log is empty in every way of asking", "[store]") {
  Stage stage;
  CHECK(stage.store->last() == Position{0});
  CHECK(stage.store->earliest() == Position{1});
  CHECK(stage.store->term() == Term{1});
  CHECK(stage.store->log_id() != LogId{});
  CHECK(stage.store->append({}));
  CHECK(stage.store->read_log({}, {100}, {})->empty());
  CHECK(stage.store->read_subject("run-0", {}, {100}, {})->empty());
  CHECK_FALSE(*stage.store->find_subject("run-0"));
  CHECK(stage.store->subjects("", "", 10, false)->empty());
}

TEST_CASE("Store: what was appended is read back, in every way", "[store]") {
  Stage stage;
  stage.write_thirty();
  CHECK(stage.store->last() == Position{30});
  CHECK(stage.scribe.holds(*stage.store));
}

TEST_CASE("Store: a page of the log keeps its bounds and says when there is more", "[store]") {
  Stage stage;
  stage.write_thirty();
  auto page = stage.store->read_log({4}, {20}, {.events_max = 5});
  REQUIRE(page);
  CHECK(positions(*page) == std::vector<std::uint64_t>{5, 6, 7, 8, 9});
  CHECK(page->more);
  CHECK(page->consecutive());
  page = stage.store->read_log({15}, {20}, {.events_max = 5});
  CHECK(positions(*page) == std::vector<std::uint64_t>{16, 17, 18, 19, 20});
  CHECK_FALSE(page->more);
  page = stage.store->read_log({0}, {30}, {.bytes_max = 250});
  CHECK(page->entries.size() == 2);
  CHECK(page->more);
  // One event always fits, so that a reader cannot stand still.
  page = stage.store->read_log({0}, {30}, {.bytes_max = 1});
  CHECK(positions(*page) == std::vector<std::uint64_t>{1});
  CHECK(stage.store->read_log({30}, {99}, {})->empty());
  CHECK(stage.store->read_log({99}, {120}, {})->empty());
}

TEST_CASE("Store: a page of a subject holds its events alone, up to a position", "[store]") {
  Stage stage;
  stage.write_thirty();
  auto page = stage.store->read_subject("run-1", {2}, {30}, {.events_max = 3});
  REQUIRE(page);
  CHECK(positions(*page) == std::vector<std::uint64_t>{8, 11, 14});
  CHECK(page->entries.front().seq == Sequence{3});
  CHECK(page->more);
  CHECK_FALSE(page->consecutive());
  page = stage.store->read_subject("run-1", {2}, {12}, {});
  CHECK(positions(*page) == std::vector<std::uint64_t>{8, 11});
  CHECK_FALSE(page->more);
  CHECK(stage.store->read_subject("run-1", {10}, {30}, {})->empty());
  CHECK(stage.store->read_subject("stranger", {}, {30}, {})->empty());
}

TEST_CASE("Store: a subject's facts are those of its events", "[store]") {
  Stage stage;
  stage.scribe.event("a", "1").event("b", "2").event("a", "3", RunState::completed);
  REQUIRE(stage.scribe.commit(*stage.store));
  const auto info = stage.store->find_subject("a");
  REQUIRE(info);
  REQUIRE(*info);
  CHECK(**info == SubjectInfo{.name = "a",
                              .state = RunState::completed,
                              .first = {1},
                              .last = {2},
                              .first_position = {1},
                              .last_position = {3},
                              .time = 1003,
                              .origin = stage.store->log_id()});
}

TEST_CASE("Store: subjects come in name order, by prefix, by state, a page at a time", "[store]") {
  Stage stage;
  for (const std::string name : {"b/2", "a", "b/1", "c", "b/3", "b"}) {
    stage.scribe.event(
        name, std::string(600, 'x'), name == "b/2" ? RunState::failed : RunState::open);
    REQUIRE(stage.scribe.commit(*stage.store));
  }
  const auto list =
      [&](std::string_view prefix, std::string_view after, std::size_t most, bool open) {
        return names(*stage.store->subjects(prefix, after, most, open));
      };
  using Names = std::vector<std::string>;
  CHECK(list("", "", 10, false) == Names{"a", "b", "b/1", "b/2", "b/3", "c"});
  CHECK(list("", "", 2, false) == Names{"a", "b"});
  CHECK(list("", "b/1", 2, false) == Names{"b/2", "b/3"});
  CHECK(list("b/", "", 10, false) == Names{"b/1", "b/2", "b/3"});
  CHECK(list("b/", "b/1", 1, false) == Names{"b/2"});
  CHECK(list("b/", "", 10, true) == Names{"b/1", "b/3"});
  CHECK(list("", "b/1", 2, true) == Names{"b/3", "c"});
  CHECK(list("zz", "", 10, false).empty());
  CHECK(list("", "", 0, false).empty());
  // A state that changes later counts, wherever the earlier one is kept.
  stage.scribe.event("b/1", std::string(3000, 'x'), RunState::completed);
  REQUIRE(stage.scribe.commit(*stage.store));
  CHECK(list("b/", "", 10, true) == Names{"b/3"});
}

TEST_CASE("Store: an owner record changes the subject's owner alone", "[store]") {
  Stage stage;
  stage.scribe.event("a", "1").control(RecordKind::owner, "a", 7, std::string(16, '\x42'));
  stage.scribe.control(RecordKind::owner, "unborn", 3, std::string(16, '\x42'));
  REQUIRE(stage.scribe.commit(*stage.store));
  const auto info = stage.store->find_subject("a");
  CHECK((*info)->owner_term == OwnerTerm{7});
  CHECK((*info)->origin.bytes.front() == std::byte{0x42});
  CHECK((*info)->last == Sequence{1});
  CHECK(names(*stage.store->subjects("", "", 10, false)) == std::vector<std::string>{"a"});
}

TEST_CASE("Store: control records use no position", "[store]") {
  Stage stage;
  stage.scribe.control(RecordKind::ack, "audit", 0)
      .control(RecordKind::observers, "", 0, "audit\n");
  REQUIRE(stage.scribe.commit(*stage.store));
  CHECK(stage.store->last() == Position{0});
  stage.scribe.event("a", "1").control(RecordKind::ack, "audit", 1).event("a", "2");
  REQUIRE(stage.scribe.commit(*stage.store));
  CHECK(stage.store->last() == Position{2});
  CHECK(stage.scribe.holds(*stage.store));
}

TEST_CASE("Store: a large event and an empty one are events like any other", "[store]") {
  Stage stage;
  stage.scribe.event("big", std::string(1 << 20, 'y')).event("big", "").event("big", "z");
  REQUIRE(stage.scribe.commit(*stage.store));
  CHECK(stage.scribe.holds(*stage.store));
}
