#include "codec/wire/event_codec.hpp"
#include "engine/core.hpp"
#include "engine/store/open.hpp"
#include "engine/store/sim_disk.hpp"
#include "tests/support/core_stage.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace runwire;
using namespace std::chrono_literals;
using test::Answered;
using test::CoreStage;

namespace {

struct Said {
  const char* type;
  const char* data;
};
/// One more scope open with each step.
constexpr std::array<Said, 6> steps{{
    {"run.started", "{}"},
    {"turn.started", R"({"turn":1})"},
    {"model.started", R"({"turn":1,"operation_id":"o","model":"m","attempt":1})"},
    {"text.started", R"({"operation_id":"o","text_id":"t"})"},
    {"tool.started", R"({"turn":1,"call_id":"c","name":"bash"})"},
    {"interaction.started", R"({"turn":1,"interaction_id":"i","kind":"approval"})"},
}};
/// What recovery adds behind the first `open` of them.
std::vector<std::string> endings(std::size_t open) {
  std::vector<std::string> all;
  if (open >= 6) all.emplace_back("interaction.failed");
  if (open >= 5) all.emplace_back("tool.failed");
  if (open >= 3) all.emplace_back("model.failed");
  if (open >= 2) all.emplace_back("turn.failed");
  all.emplace_back("run.failed");
  return all;
}

constexpr SegmentsOptions small{.segment_bytes_max = 3000};

/// One life of an engine over a disk that fails as it is told. Only the disk outlives it.
class Life {
 public:
  explicit Life(SimDisk& disk, test::CountingIds& ids, test::ManualClock& clock)
      : ids_(ids), clock_(clock) {
    auto store = open_segments_on(disk, small, ids, clock);
    if (!store) return;
    store_ = std::move(*store);
    auto core = Core::open({}, {.store = *store_, .clock = clock, .ids = ids});
    if (core) core_ = std::move(*core);
  }

  [[nodiscard]] bool serves() const { return core_ != nullptr; }
  [[nodiscard]] const Store& store() const { return *store_; }

  Answered append(const std::string& subject, const Said& step, bool local) {
    auto answered = std::make_shared<Answered>();
    wire::Append request{.subject = subject, .events = {CoreStage::draft(step.type, step.data)}};
    request.events[0].id = ids_.event_id(0);
    auto staged = stage(std::move(request), {});
    staged->local = local;
    staged->respond = [answered](Outcome outcome) { answered->outcome = std::move(outcome); };
    core_->take(std::move(staged));
    settle();
    return *answered;
  }
  void claim(const std::string& subject, const InstanceId& holder) {
    core_->take(wire::Claim{.subject = subject, .epoch = {1}}, holder, [](const Outcome&) {});
    settle();
  }
  void settle() {
    do {
      core_->turn();
      const auto records = core_->next_batch();
      if (core_->writing()) core_->completed(store_->append(records));
    } while (core_->has_work());
    core_->turn();
  }
  [[nodiscard]] std::vector<std::string> types(const std::string& subject) const {
    auto page = store_->read_subject(subject, {}, store_->last(), {});
    REQUIRE(page);
    std::vector<std::string> found;
    const auto events = wire::decode_events(page->events);
    REQUIRE(events);
    for (const EventView& event : *events)
      found.emplace_back(event.type);
    return found;
  }

 private:
  test::CountingIds& ids_;
  test::ManualClock& clock_;
  std::unique_ptr<Store> store_{};
  std::unique_ptr<Core> core_{};
};

/// A disk on which a process died with a run open at every depth, and with runs of others.
struct Dead {
  SimDisk disk{1};
  test::CountingIds ids{};
  test::ManualClock clock{};

  Dead() {
    Life life(disk, ids, clock);
    for (std::size_t open = 1; open <= steps.size(); ++open) {
      for (std::size_t at = 0; at < open; ++at)
        REQUIRE(life.append("mine-" + std::to_string(open), steps.at(at), true).good());
    }
    REQUIRE(life.append("theirs", steps[0], false).good());
    life.claim("claimed", ids.instance_id());
    REQUIRE(life.append("over", steps[0], true).good());
    REQUIRE(life.append("over", {"run.completed", "{}"}, true).good());
  }

  /// Each start has one end, children first, and the runs of others are as they were.
  void judge(SimDisk& left) {
    Life life(left, ids, clock);
    REQUIRE(life.serves());
    for (std::size_t open = 1; open <= steps.size(); ++open) {
      const std::string run = "mine-" + std::to_string(open);
      std::vector<std::string> wanted;
      for (std::size_t at = 0; at < open; ++at)
        wanted.emplace_back(steps.at(at).type);
      std::ranges::copy(endings(open), std::back_inserter(wanted));
      REQUIRE(life.types(run) == wanted);
      REQUIRE((*life.store().find_subject(run))->state == RunState::failed);
      // It can be ended by nobody any more, and says why.
      const Answered late = life.append(run, {"run.cancelled", R"({"reason":"user"})"}, true);
      REQUIRE(late.outcome->error->code == ErrorCode::lifecycle);
      REQUIRE(late.outcome->error->text("reason") == "engine_restart");
    }
    REQUIRE(life.types("theirs") == std::vector<std::string>{"run.started"});
    REQUIRE(life.types("over") == std::vector<std::string>{"run.started", "run.completed"});
    REQUIRE(life.store().control().claims.size() == 1);
    REQUIRE(life.append("new", steps[0], true).good());
  }
};

}  // namespace

TEST_CASE(
    "C35 Core: recovery may die at every call of the disk, and die again, and ends each scope once",
    "[engine][lifecycle][crash]") {
  Dead dead;
  dead.disk.crash(1);
  std::uint64_t calls = 0;
  for (std::uint64_t call = 1;; ++call) {
    const auto first = dead.disk.clone();
    first->fail_call(call, SimDisk::Fault::power);
    const bool served = Life(*first, dead.ids, dead.clock).serves();
    const bool met = first->fault_met();
    REQUIRE((served || met));
    INFO("first recovery dies at call " << call);
    first->crash(call);
    // The second recovery dies as well, somewhere; each place is met for some first one.
    const auto second = first->clone();
    second->fail_call(1 + call * 7 % 40, SimDisk::Fault::power);
    Life(*second, dead.ids, dead.clock);
    second->crash(call + 1000);
    dead.judge(*second);
    dead.judge(*first);
    if (!met) break;
    ++calls;
  }
  CHECK(calls > 20);
}

TEST_CASE("C35 Core: a failed tool says that its outcome is uncertain", "[engine][lifecycle]") {
  Dead dead;
  dead.disk.crash(1);
  Life next(dead.disk, dead.ids, dead.clock);
  REQUIRE(next.serves());
  auto page = next.store().read_subject("mine-6", {7}, next.store().last(), {.events_max = 1});
  REQUIRE(page);
  std::size_t offset = 0;
  const auto event = wire::decode_event(page->events, offset);
  REQUIRE(event);
  CHECK(event->type == "tool.failed");
  CHECK(event->data ==
        R"({"call_id":"c","name":"bash","outcome":"uncertain","problem":{"code":"engine_restart",)"
        R"("message":"the process that ran it died; its outcome is unknown","retryable":false},)"
        R"("retry":"never"})");
}

TEST_CASE("C35 Core: what recovery writes at once is bounded, a run never spans two batches",
          "[engine][lifecycle][bound]") {
  CoreStage stage;
  const std::vector<std::string> runs{"a", "b", "c", "d"};
  constexpr std::uint64_t turns = limits::open_scopes_max;
  for (const std::string& run : runs) {
    stage.append({.subject = run, .events = {CoreStage::draft("run.started")}}, {}, true);
    for (std::uint64_t turn = 1; turn <= turns; ++turn) {
      const std::string data = "{\"turn\":" + std::to_string(turn) + "}";
      stage.append({.subject = run, .events = {CoreStage::draft("turn.started", data)}}, {}, true);
    }
    stage.settle();
  }
  stage.reopen();
  CHECK(stage.store->appends() == 2);  // two runs of 4,097 endings, twice
  for (const std::string& run : runs)
    CHECK(stage.stored_types(run).size() == 2 * (turns + 1));
}

TEST_CASE("Core: a late owner hears what became of its run", "[engine][core][lifecycle]") {
  CoreStage stage;
  const InstanceId owner = stage.ids.instance_id();
  REQUIRE(stage.command(wire::Claim{.subject = "r", .epoch = {1}}, owner).good());
  const auto owned = [&](const std::string& type) -> Answered& {
    Answered& answered = stage.append(
        {.subject = "r", .events = {CoreStage::draft(type)}, .epoch = Epoch{1}}, owner);
    stage.settle();
    return answered;
  };
  REQUIRE(owned("run.started").good());
  const bool restarted = GENERATE(false, true);
  if (restarted) stage.reopen();
  stage.clock.advance(10s);
  stage.settle();
  if (restarted) stage.reopen();
  const Error late = *owned("acme.late").outcome->error;
  CHECK(late.code == ErrorCode::lifecycle);
  CHECK(late.text("state") == "failed");
  CHECK(late.text("reason") == "owner_lost");
  CHECK(late.number("last") == 2);
  const Answered& claim = stage.command(wire::Claim{.subject = "r", .epoch = {2}}, owner);
  CHECK(claim.outcome->error->text("reason") == "owner_lost");
}

TEST_CASE("Core: a run is taken over instead of ended, and goes on where it was",
          "[engine][core][lifecycle]") {
  CoreStage stage;
  const InstanceId first = stage.ids.instance_id();
  const InstanceId second = stage.ids.instance_id();
  stage.command(wire::Claim{.subject = "r", .epoch = {1}}, first);
  stage.append({.subject = "r",
                .events = {CoreStage::draft("run.started"),
                           CoreStage::draft("turn.started", R"({"turn":1})")},
                .epoch = Epoch{1}},
               first);
  stage.settle();
  stage.reopen();
  REQUIRE(stage.command(wire::Claim{.subject = "r", .epoch = {2}}, second).good());
  stage.clock.advance(9999ms);  // the first lease is long over, the second is not
  stage.settle();
  Answered& stale = stage.append({.subject = "r",
                                  .events = {CoreStage::draft("turn.completed", R"({"turn":1})")},
                                  .epoch = Epoch{1}},
                                 first);
  Answered& on = stage.append({.subject = "r",
                               .events = {CoreStage::draft("turn.completed", R"({"turn":1})"),
                                          CoreStage::draft("run.completed")},
                               .epoch = Epoch{2}},
                              second);
  stage.settle();
  CHECK(stale.code() == ErrorCode::fenced);
  CHECK(on.good());
  CHECK(stage.stored_types("r") ==
        std::vector<std::string>{"run.started", "turn.started", "turn.completed", "run.completed"});
}
