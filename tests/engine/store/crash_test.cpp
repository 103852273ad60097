#include "engine/store/sim_disk.hpp"
#include "tests/engine/store/scribe.hpp"
#include "tests/engine/store/store_bench.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>

using namespace runwire;
using test::Scribe;

namespace {

constexpr SegmentsOptions small{.segment_bytes_max = 1500};

/// A short life with all that a store does: opens, writes, rolls, closes, opens again, writes.
struct Script {
  test::CountingIds ids{};
  test::ManualClock clock{};
  Scribe scribe{};

  /// False: the disk failed on the way.
  bool run(SimDisk& disk) {
    for (int life = 0; life < 2; ++life) {
      auto store = open_segments_on(disk, small, ids, clock);
      if (!store) return false;
      for (int at = 0; at < 5; ++at) {
        scribe.event("a", std::string(150, static_cast<char>('a' + at)));
        if (at % 2 == 0)
          scribe.event("b", std::string(300, 'b')).control(RecordKind::ack, "audit", 1);
        if (!scribe.commit(**store)) return false;
      }
    }
    return true;
  }
};

}  // namespace

TEST_CASE("G3a Segments: the power may go at any call, and nothing confirmed is lost",
          "[store][crash]") {
  int states = 0;
  for (std::uint64_t call = 1;; ++call) {
    SimDisk disk(call);
    Script script;
    disk.fail_call(call, SimDisk::Fault::power);
    const bool whole = script.run(disk);
    if (whole && !disk.fault_met()) break;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      const auto left = disk.clone();
      left->crash(seed * 1000 + call);
      INFO("call " << call << ", crash seed " << seed * 1000 + call);
      Scribe scribe = script.scribe;
      auto store = open_segments_on(*left, small, script.ids, script.clock);
      REQUIRE(store);
      REQUIRE(scribe.adopt(**store));
      REQUIRE(scribe.event("b", "goes on").commit(**store));
      REQUIRE(scribe.holds(**store));
      ++states;
    }
  }
  CHECK(states > 500);
}

TEST_CASE("G4 Segments: any call may fail once, and no confirmation is false", "[store][crash]") {
  for (const auto fault : {SimDisk::Fault::io, SimDisk::Fault::full}) {
    for (std::uint64_t call = 1;; ++call) {
      SimDisk disk(call);
      Script script;
      disk.fail_call(call, fault);
      [[maybe_unused]] const bool whole = script.run(disk);
      if (!disk.fault_met()) break;
      INFO("call " << call << ", fault " << static_cast<int>(fault));
      // Opened by the next process on the same page cache, and once more after a power cut.
      auto store = open_segments_on(disk, small, script.ids, script.clock);
      REQUIRE(store);
      REQUIRE(script.scribe.adopt(**store));
      REQUIRE(script.scribe.event("b", "goes on").commit(**store));
      disk.crash(call);
      store->reset();
      store = open_segments_on(disk, small, script.ids, script.clock);
      REQUIRE(store);
      REQUIRE(script.scribe.adopt(**store));
    }
  }
}

namespace {

/// A random life on a disk that fails in every way it can; after each opening the log is held
/// against what was confirmed.
class Life {
 public:
  explicit Life(std::uint64_t seed) : random_(seed), disk_(seed) {}

  void live(int steps) {
    for (int step = 0; step < steps; ++step) {
      if (!store_) reopen();
      act();
    }
    cut();
    reopen();
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  void act() {
    switch (below(14)) {
      case 0:
        disk_.fail_call(1 + below(6), SimDisk::Fault::power);
        return;
      case 1:
        disk_.fail_call(1 + below(6), SimDisk::Fault::io);
        return;
      case 2:
        disk_.fail_call(1 + below(6), SimDisk::Fault::full);
        return;
      case 3:
        disk_.fail_next_sync();
        return;
      case 4:
        disk_.set_room(below(3) == 0 ? std::nullopt : std::optional(below(4000)));
        return;
      case 5:
        return cut();
      case 6:
        store_.reset();
        return;
      default:
        return write();
    }
  }

  void write() {
    const std::uint64_t count = 1 + below(4);
    for (std::uint64_t at = 0; at < count; ++at) {
      scribe_.event("run-" + std::to_string(below(4)),
                    std::string(below(6) == 0 ? below(3000) : below(200), 'x'));
      if (below(4) == 0) scribe_.control(RecordKind::ack, "audit", scribe_.confirmed().size());
    }
    const auto status = scribe_.commit(*store_);
    // A process that meets a failed disk is started again, on the same page cache or after a cut.
    if (!status && status.error().code != ErrorCode::store_full)
      below(2) == 0 ? cut() : store_.reset();
  }

  void cut() {
    disk_.crash(random_());
    store_.reset();
  }

  void reopen() {
    auto opened = open_segments_on(disk_, {.segment_bytes_max = 2000}, ids_, clock_);
    if (!opened) {
      // Whatever the disk does, it never looks like damage.
      REQUIRE((opened.error().code == ErrorCode::store_failed ||
               opened.error().code == ErrorCode::store_full));
      cut();
      opened = open_segments_on(disk_, {.segment_bytes_max = 2000}, ids_, clock_);
    }
    REQUIRE(opened);
    store_ = std::move(*opened);
    disk_.set_room(std::nullopt);
    REQUIRE(store_->term() > term_);
    REQUIRE((log_ == LogId{} || store_->log_id() == log_ || scribe_.confirmed().empty()));
    term_ = scribe_.confirmed().empty() ? Term{} : store_->term();
    log_ = store_->log_id();
    REQUIRE(scribe_.adopt(*store_));
  }

  std::mt19937_64 random_;
  SimDisk disk_;
  test::CountingIds ids_{};
  test::ManualClock clock_{};
  Scribe scribe_{};
  std::unique_ptr<Store> store_{};
  Term term_{};
  LogId log_{};
};

}  // namespace

/// RUNWIRE_SEED=FIRST-LAST runs others than the usual ones: one that failed, or a long campaign.
TEST_CASE("G3a Segments: random lives on a failing disk keep every promise",
          "[store][crash][property]") {
  std::uint64_t first = 1;
  std::uint64_t last = 80;
  if (const char* wanted = std::getenv("RUNWIRE_SEED")) {
    char* rest = nullptr;
    first = std::strtoull(wanted, &rest, 10);
    last = *rest == '-' ? std::strtoull(rest + 1, nullptr, 10) : first;
  }
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    INFO("seed " << seed << ", again with RUNWIRE_SEED=" << seed);
    Life(seed).live(60);
  }
}
