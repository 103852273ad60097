#include "engine/store/sim_disk.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <string>

using namespace runwire;

namespace {

std::string text_of(const SimDisk& disk, std::string_view name) {
  const auto bytes = disk.contents(name);
  return bytes ? std::string(as_text(*bytes)) : std::string("(none)");
}

}  // namespace

TEST_CASE("SimDisk: a crash keeps what was synced, with its name", "[store][sim]") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SimDisk disk(1);
    auto file = disk.create("d/file");
    REQUIRE(file);
    REQUIRE((*file)->write(0, as_bytes("kept")));
    REQUIRE((*file)->sync());
    REQUIRE(disk.sync_directory("d"));
    disk.crash(seed);
    CHECK(text_of(disk, "d/file") == "kept");
    CHECK_FALSE((*file)->write(0, as_bytes("dead")));
  }
}

TEST_CASE("SimDisk: without a sync each fate is met: kept, lost, torn", "[store][sim]") {
  std::set<std::string> fates;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SimDisk disk(1);
    auto file = disk.create("d/file");
    REQUIRE(disk.sync_directory("d"));
    REQUIRE((*file)->write(0, as_bytes(std::string(1024, 'x'))));
    disk.crash(seed);
    const std::string left = text_of(disk, "d/file");
    fates.insert(left.empty() ? "lost" : left == std::string(1024, 'x') ? "kept" : "torn");
  }
  CHECK(fates == std::set<std::string>{"kept", "lost", "torn"});
}

TEST_CASE("SimDisk: a name that was not synced may be gone, and another folder's sync is no help",
          "[store][sim]") {
  std::set<std::string> fates;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SimDisk disk(1);
    auto file = disk.create("d/file");
    REQUIRE((*file)->sync());
    REQUIRE(disk.sync_directory(""));
    disk.crash(seed);
    fates.insert(text_of(disk, "d/file"));
  }
  CHECK(fates == std::set<std::string>{"", "(none)"});
}

TEST_CASE("SimDisk: what a failed sync covered stays in doubt although a later sync works",
          "[store][sim]") {
  std::set<std::string> fates;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SimDisk disk(1);
    auto file = disk.create("d/file");
    REQUIRE(disk.sync_directory("d"));
    REQUIRE((*file)->write(0, as_bytes("doubt")));
    disk.fail_next_sync();
    CHECK_FALSE((*file)->sync());
    CHECK(text_of(disk, "d/file") == "doubt");
    REQUIRE((*file)->sync());
    disk.crash(seed);
    fates.insert(text_of(disk, "d/file"));
  }
  CHECK(fates == std::set<std::string>{"", "doubt"});
}

TEST_CASE("SimDisk: faults are met where they were set, and the same seed fails the same way",
          "[store][sim]") {
  SimDisk disk(1);
  auto file = disk.create("d/file");
  disk.fail_call(2, SimDisk::Fault::full);
  REQUIRE((*file)->write(0, as_bytes("a")));
  CHECK_FALSE(disk.fault_met());
  CHECK((*file)->write(1, as_bytes("b")).error().code == ErrorCode::store_full);
  CHECK(disk.fault_met());
  disk.fail_call(1, SimDisk::Fault::power);
  CHECK_FALSE((*file)->sync());
  CHECK_FALSE((*file)->write(0, as_bytes("a")));
  const auto twin = disk.clone();
  disk.crash(9);
  twin->crash(9);
  CHECK(disk.image_hash() == twin->image_hash());
}

TEST_CASE("SimDisk: one lock at a time, given back with its holder or by a crash", "[store][sim]") {
  SimDisk disk(1);
  auto held = disk.lock("lock");
  REQUIRE(held);
  CHECK(disk.lock("lock").error().code == ErrorCode::locked);
  held->reset();
  held = disk.lock("lock");
  REQUIRE(held);
  disk.crash(1);
  const auto after = disk.lock("lock");
  CHECK(after);
  held->reset();  // A dead holder gives nothing back.
  CHECK(disk.lock("lock").error().code == ErrorCode::locked);
}
