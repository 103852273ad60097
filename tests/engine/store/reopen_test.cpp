#include "engine/store/segments/catalogue.hpp"
#include "engine/store/segments/format.hpp"
#include "engine/store/segments/sqlite.hpp"
#include "tests/engine/store/scribe.hpp"
#include "tests/engine/store/store_bench.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

using namespace runwire;
using segments::segment_name;
using test::Scribe;
using test::StoreBench;
using Kind = StoreBench::Kind;

namespace {

void write_rolling(Store& store, Scribe& scribe, int events = 40) {
  for (int at = 0; at < events; ++at) {
    scribe.event("run-" + std::to_string(at % 5), std::string(300, 'x') + std::to_string(at));
    REQUIRE(scribe.commit(store));
  }
}

}  // namespace

TEST_CASE("Segments: a log that rolled is the same after it was opened again",
          "[store][segments]") {
  StoreBench bench(GENERATE(Kind::simulated, Kind::files));
  auto store = bench.open();
  const LogId log = store->log_id();
  Scribe scribe;
  write_rolling(*store, scribe);
  store.reset();
  store = bench.open();
  CHECK(store->log_id() == log);
  CHECK(store->term() == Term{2});
  CHECK(store->recovery().tail_bytes_cut == 0);
  CHECK(store->recovery().events_kept_unsynced == 0);
  CHECK_FALSE(store->recovery().catalogue_rebuilt);
  CHECK(scribe.holds(*store));
  write_rolling(*store, scribe);
  CHECK(scribe.holds(*store));
  store.reset();
  CHECK(scribe.holds(*bench.open()));
}

TEST_CASE("Segments: a clean close goes on in the same file", "[store][segments]") {
  StoreBench bench(Kind::simulated, 1 << 20);
  Scribe scribe;
  for (int life = 0; life < 5; ++life) {
    auto store = bench.open();
    CHECK(scribe.event("a", std::to_string(life)).commit(*store));
  }
  CHECK(bench.disk.list("segments")->size() == 1);
  CHECK(scribe.holds(*bench.open()));
}

TEST_CASE("Segments: what control records say is there after opening again", "[store][segments]") {
  StoreBench bench(GENERATE(Kind::simulated, Kind::files),
                   GENERATE(std::uint64_t{1024}, std::uint64_t{1} << 20));
  Scribe scribe;
  {
    auto store = bench.open();
    CHECK(store->control().acks.empty());
    scribe.control(RecordKind::observers, "", 0, "audit\nbilling\n")
        .event("a", std::string(900, 'x'));
    REQUIRE(scribe.commit(*store));
    scribe.control(RecordKind::ack, "audit", 1).control(RecordKind::suspend, "billing", 1);
    scribe.control(RecordKind::claim, "a", 4, std::string(16, 'i'))
        .control(RecordKind::claim, "b", 5, std::string(16, 'k'));
    scribe.control(RecordKind::owner, "a", 9, std::string(16, 'o'));
    REQUIRE(scribe.commit(*store));
    scribe.event("a", std::string(900, 'y')).control(RecordKind::claim, "b", 5);
    REQUIRE(scribe.commit(*store));
    scribe.control(RecordKind::skip, "audit", 2, "no room");
    scribe.control(RecordKind::gate, "billing", 7);
    REQUIRE(scribe.commit(*store));
  }
  auto store = bench.open();
  const ControlState state = store->control();
  CHECK(state.observers == std::vector<std::string>{"audit", "billing"});
  CHECK(state.acks ==
        std::vector<AckInfo>{{.observer = "audit", .acked = {2}, .skipped = 1},
                             {.observer = "billing", .suspended = true, .gates_from = {7}}});
  REQUIRE(state.claims.size() == 1);
  CHECK(state.claims.front().subject == "a");
  CHECK(state.claims.front().epoch == Epoch{4});
  CHECK(state.claims.front().holder.bytes.front() == std::byte{'i'});
  CHECK((*store->find_subject("a"))->owner_term == OwnerTerm{9});
  CHECK(scribe.holds(*store));
}

TEST_CASE("Segments: a process that was killed loses nothing that was confirmed",
          "[store][segments]") {
  StoreBench bench(Kind::simulated);
  auto store = bench.open();
  Scribe scribe;
  write_rolling(*store, scribe, 7);
  // All writes are there, no closing mark: the last batch cannot prove that it was synced.
  const auto left = bench.disk.clone();
  auto again = open_segments_on(*left, {.segment_bytes_max = 4096}, bench.ids, bench.clock);
  REQUIRE(again);
  CHECK((*again)->recovery().events_kept_unsynced == 1);
  CHECK((*again)->term() == Term{2});
  CHECK(scribe.holds(**again));
}

TEST_CASE("Segments: a catalogue that is gone or strange is made again", "[store][segments]") {
  StoreBench bench(Kind::files);
  auto store = bench.open();
  Scribe scribe;
  write_rolling(*store, scribe);
  store.reset();
  const auto catalogue = bench.file("catalogue.db");
  SECTION("gone") {
    segments::Catalogue::remove_files(catalogue.string());
  }
  SECTION("not a database") {
    std::ofstream(catalogue) << std::string(5000, '?');
  }
  SECTION("cut") {
    std::filesystem::resize_file(catalogue, 5000);
  }
  SECTION("of another version") {
    auto database = segments::Database::open(catalogue.string());
    REQUIRE(database);
    REQUIRE(database->execute("PRAGMA user_version = 9"));
  }
  SECTION("of another log") {
    segments::Catalogue::remove_files(catalogue.string());
    REQUIRE(segments::Catalogue::open(catalogue.string(), LogId{.bytes = {std::byte{1}}}));
  }
  SECTION("behind the segments") {
    auto database = segments::Database::open(catalogue.string());
    REQUIRE(database);
    REQUIRE(database->execute("DELETE FROM segments WHERE number = 2"));
  }
  store = bench.open();
  CHECK(store->recovery().catalogue_rebuilt);
  CHECK(scribe.holds(*store));
  store.reset();
  store = bench.open();
  CHECK_FALSE(store->recovery().catalogue_rebuilt);
  CHECK(scribe.holds(*store));
}

TEST_CASE("Segments: a catalogue that knows newer files says that they are missing",
          "[store][segments]") {
  StoreBench bench(Kind::files);
  auto store = bench.open();
  Scribe scribe;
  write_rolling(*store, scribe);
  store.reset();
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(bench.file("segments")))
    files.push_back(entry.path());
  std::ranges::sort(files);
  REQUIRE(files.size() > 3);
  std::filesystem::remove(files.back());
  const auto refused = bench.try_open();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::corrupt);
  CHECK(refused.error().text("file") == segment_name(files.size()));
}

TEST_CASE("Segments: trimmed events are gone for every reader, and stay gone",
          "[store][segments]") {
  StoreBench bench(GENERATE(Kind::simulated, Kind::files));
  auto store = bench.open();
  Scribe scribe;
  write_rolling(*store, scribe);
  REQUIRE(scribe.control(RecordKind::trim, "", 12).commit(*store));
  for (int life = 0; life < 2; ++life) {
    CHECK(store->earliest() == Position{13});
    const auto expired = store->read_log({11}, {40}, {});
    REQUIRE_FALSE(expired);
    CHECK(expired.error().code == ErrorCode::cursor_expired);
    CHECK(expired.error().number("recovery") == 12);
    CHECK(store->read_log({12}, {40}, {})->entries.size() == 28);
    const auto subject = store->read_subject("run-0", {1}, {40}, {});
    REQUIRE_FALSE(subject);
    CHECK(subject.error().number("earliest") == 4);
    CHECK((*store->find_subject("run-0"))->first == Sequence{4});
    CHECK((*store->find_subject("run-0"))->first_position == Position{16});
    store.reset();
    store = bench.open();
  }
}

TEST_CASE("Segments: readers on other threads see whole batches while the log rolls",
          "[store][segments][threads]") {
  StoreBench bench(Kind::files);
  auto store = bench.open();
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  const auto follow = [&] {
    std::uint64_t seen = 0;
    for (bool last = false; !last;) {
      last = done.load();
      auto page = store->read_log({seen}, store->last(), {});
      auto own = store->read_subject("run-1", {seen / 5}, store->last(), {.events_max = 3});
      auto list = store->subjects("run-", "", 10, false);
      if (!page || !own || !list || (seen >= 5 && list->size() != 5)) ++wrong;
      if (!page) return;
      for (const PageEntry& entry : page->entries) {
        if (entry.position.value != ++seen) ++wrong;
      }
      // Batches of two: an odd end would be half of one.
      if (store->last().value % 2 != 0) ++wrong;
    }
    if (seen != store->last().value) ++wrong;
  };
  {
    std::vector<std::jthread> readers;
    for (int at = 0; at < 3; ++at)
      readers.emplace_back(follow);
    Scribe scribe;
    for (int at = 0; at < 400; at += 2) {
      for (int one = at; one < at + 2; ++one)
        scribe.event("run-" + std::to_string(one % 5), std::string(200, 'x'));
      REQUIRE(scribe.commit(*store));
    }
    done = true;
  }
  CHECK(wrong == 0);
  CHECK(store->last() == Position{400});
}
