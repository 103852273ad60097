#include "engine/store/segments/format.hpp"
#include "engine/store/segments/sqlite.hpp"
#include "tests/engine/store/scribe.hpp"
#include "tests/engine/store/store_bench.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

using namespace runwire;
using test::Scribe;
using test::StoreBench;
using Kind = StoreBench::Kind;

TEST_CASE("C46 Segments: after one failed sync nothing is written until the log was opened again",
          "[store][failure]") {
  StoreBench bench(Kind::simulated, 1 << 20);
  auto store = bench.open();
  Scribe scribe;
  REQUIRE(scribe.event("a", "1").commit(*store));
  bench.disk.fail_next_sync();
  auto failed = scribe.event("a", "2").commit(*store);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == ErrorCode::store_failed);
  const std::uint64_t calls = bench.disk.calls();
  for (int at = 0; at < 3; ++at) {
    failed = scribe.event("a", "2").commit(*store);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code == ErrorCode::store_failed);
  }
  CHECK(bench.disk.calls() == calls);  // No sync was tried again, nor anything else.
  CHECK(scribe.holds(*store));
  const std::uint64_t mark = bench.disk.calls();
  store.reset();
  CHECK(bench.disk.calls() == mark);  // Not even a closing mark.
  store = bench.open();
  CHECK(scribe.adopt(*store));
  REQUIRE(scribe.event("a", "3").commit(*store));
  // What the page cache served after the failed sync is on the disk by now.
  bench.disk.crash(GENERATE(range(std::uint64_t{1}, std::uint64_t{9})));
  store.reset();
  store = bench.open();
  CHECK(scribe.adopt(*store));
}

TEST_CASE("C46 Segments: a close whose sync failed is not built upon", "[store][failure]") {
  const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{30}));
  StoreBench bench(Kind::simulated, 1 << 16);
  Scribe scribe;
  auto store = bench.open();
  REQUIRE(scribe.event("a", "1").commit(*store));
  bench.disk.fail_next_sync();
  store.reset();
  store = bench.open();
  REQUIRE(scribe.event("a", "2").commit(*store));
  bench.disk.crash(seed);
  store.reset();
  CHECK(scribe.adopt(*bench.open()));
}

TEST_CASE("C46 Segments: a file whose name was not synced is not built upon", "[store][failure]") {
  const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{30}));
  StoreBench bench(Kind::simulated, 1 << 16);
  Scribe scribe;
  // Lock, folder, two syncs, list, create, reserve, write, sync, rename; then the folder's sync.
  bench.disk.fail_call(11, SimDisk::Fault::io);
  REQUIRE_FALSE(bench.try_open());
  REQUIRE(bench.disk.contents(segments::segment_name(1)));
  auto store = bench.open();
  REQUIRE(scribe.event("a", "1").commit(*store));
  bench.disk.crash(seed);
  store.reset();
  CHECK(scribe.adopt(*bench.open()));
}

TEST_CASE("Segments: a batch costs one write and one sync", "[store]") {
  StoreBench bench(Kind::simulated, 1 << 20);
  auto store = bench.open();
  Scribe scribe;
  REQUIRE(scribe.event("a", "zeros are written ahead").commit(*store));
  const std::uint64_t calls = bench.disk.calls();
  for (int at = 0; at < 50; ++at)
    REQUIRE(scribe.event("a", std::string(300, 'x')).event("b", "y").commit(*store));
  CHECK(bench.disk.calls() - calls == 100);
}

TEST_CASE("C46 Segments: a sync that fails while the file changes is no different",
          "[store][failure]") {
  // Of the calls of the append that rolls: each one fails once.
  for (std::uint64_t call = 1; call <= 9; ++call) {
    StoreBench bench(Kind::simulated, 1024);
    auto store = bench.open();
    Scribe scribe;
    REQUIRE(scribe.event("a", std::string(700, 'x')).commit(*store));
    bench.disk.fail_call(call, SimDisk::Fault::io);
    const auto failed = scribe.event("a", std::string(700, 'y')).commit(*store);
    INFO("call " << call);
    REQUIRE(failed.has_value() == !bench.disk.fault_met());
    if (failed) continue;
    CHECK(failed.error().code == ErrorCode::store_failed);
    CHECK_FALSE(scribe.event("a", "z").commit(*store));
    CHECK(scribe.holds(*store));
    store.reset();
    store = bench.open();
    CHECK(scribe.adopt(*store));
    REQUIRE(scribe.event("a", "z").commit(*store));
    CHECK(scribe.holds(*store));
  }
}

TEST_CASE("C47 Segments: a full disk refuses, uses no number, and is left by itself",
          "[store][failure]") {
  StoreBench bench(Kind::simulated, GENERATE(std::uint64_t{2048}, std::uint64_t{1} << 20));
  auto store = bench.open();
  Scribe scribe;
  bench.disk.set_room(5000);
  Status status{};
  int accepted = 0;
  for (; status && accepted < 100; ++accepted)
    status = scribe.event("a", std::string(400, 'x')).commit(*store);
  REQUIRE_FALSE(status);
  CHECK(accepted > 3);
  for (int at = 0; at < 10; ++at) {
    status = scribe.event("a", std::string(400, 'y')).commit(*store);
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::store_full);
    CHECK(scribe.holds(*store));
  }
  bench.disk.set_room(std::nullopt);
  REQUIRE(scribe.event("a", "after").commit(*store));
  REQUIRE(scribe.event("b", std::string(1500, 'z')).commit(*store));
  CHECK(scribe.holds(*store));
  store.reset();
  CHECK(scribe.holds(*bench.open()));
}

TEST_CASE("C47 Segments: a disk smaller than a segment is of use", "[store][failure]") {
  StoreBench bench(Kind::simulated, 1 << 30);
  bench.disk.set_room(1 << 20);
  auto store = bench.open();
  Scribe scribe;
  REQUIRE(scribe.event("a", "1").commit(*store));
  CHECK(scribe.holds(*store));
}

TEST_CASE("Segments: a catalogue that cannot be written is waited for after eight files",
          "[store][failure]") {
  StoreBench bench(Kind::files, 1024);
  auto store = bench.open();
  Scribe scribe;
  // A table that refuses each insert stands for a catalogue that cannot be written.
  auto other = segments::Database::open(bench.file("catalogue.db").string());
  REQUIRE(other->execute(
      "CREATE TRIGGER no BEFORE INSERT ON segments BEGIN SELECT RAISE(ABORT, 'no'); END"));
  Status status{};
  int accepted = 0;
  for (; status && accepted < 50; ++accepted)
    status = scribe.event("a", std::string(700, 'x')).commit(*store);
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::store_failed);
  CHECK(accepted >= 8);
  CHECK(accepted <= 11);
  CHECK(scribe.holds(*store));
  REQUIRE(other->execute("DROP TRIGGER no"));
  store.reset();
  store = bench.open();
  CHECK(scribe.holds(*store));
  CHECK(scribe.event("a", "goes on").commit(*store));
}

TEST_CASE("C48 Segments: one writer, by a lock that names its holder and dies with it",
          "[store][failure]") {
  StoreBench bench(Kind::files);
  auto store = bench.open();
  const auto second = bench.try_open();
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::locked);
  CHECK(second.error().number("pid") == static_cast<std::uint64_t>(::getpid()));
  CHECK(second.error().message.find(std::to_string(::getpid())) != std::string::npos);
  Scribe scribe;
  CHECK(scribe.event("a", "unharmed").commit(*store));
  store.reset();
  // What the file says does not matter.
  SECTION("as it was left") {}
  SECTION("the pid of a process that lives") {
    std::ofstream(bench.file("lock")) << ::getppid() << "\n";
  }
  SECTION("nothing") {
    std::filesystem::resize_file(bench.file("lock"), 0);
  }
  SECTION("no number") {
    std::ofstream(bench.file("lock")) << std::string(100, '?');
  }
  CHECK(scribe.holds(*bench.open()));
}

TEST_CASE("C49 Segments: another way to the same directory meets the same lock",
          "[store][failure]") {
  StoreBench bench(Kind::files);
  const auto store = bench.open();
  const auto link = bench.directory.path() / "other";
  std::filesystem::create_directory_symlink(bench.file(""), link);
  const auto second = open_segments({.directory = link.string()}, bench.ids, bench.clock);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::locked);
}

TEST_CASE("Segments: options that cannot be are refused", "[store][failure]") {
  StoreBench bench(Kind::files, std::uint64_t{3} << 30);
  CHECK(bench.try_open().error().code == ErrorCode::invalid);
  CHECK(open_segments({}, bench.ids, bench.clock).error().code == ErrorCode::invalid);
  const std::string file = (bench.directory.path() / "file").string();
  std::ofstream(file) << "not a directory";
  CHECK(open_segments({.directory = file}, bench.ids, bench.clock).error().code ==
        ErrorCode::invalid);
}
