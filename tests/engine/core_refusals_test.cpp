#include "tests/support/core_stage.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace runwire;
using namespace std::chrono_literals;
using test::Answered;
using test::CoreStage;

namespace {

void refuse(CoreStage& stage, Epoch epoch, std::uint64_t position, const std::string& reason) {
  stage.core->take(wire::Ack{.observer = "audit",
                             .log = stage.store->log_id(),
                             .term = stage.store->term(),
                             .epoch = epoch,
                             .position = {position},
                             .refused = true,
                             .reason = reason});
  stage.settle();
  stage.clock.advance(RequiredObserver::retry_max);
  stage.settle();
}

void store_acks(CoreStage& stage) {
  stage.clock.advance(limits::ack_store_delay);
  stage.settle();
}

wire::ObserverRow row_of(CoreStage& stage, const std::string& observer) {
  Answered& answered = stage.command(wire::Observers{});
  REQUIRE(answered.good());
  for (const auto& row : std::get<wire::ObserversReply>(answered.outcome->answer).observers) {
    if (row.observer == observer) return row;
  }
  FAIL("no such row");
  return {};
}

EngineOptions skipping(std::uint64_t after) {
  return {.required = {"audit"}, .policies = {{"audit", {.skip_after = after}}}};
}

const std::vector<std::string> one_note{"observer.skipped"};

}  // namespace

TEST_CASE("Core: a skip is said by an event and on record, and moves the ack",
          "[engine][core][observe]") {
  CoreStage stage(skipping(2));
  const Epoch epoch = stage.attach("audit");
  stage.put("s", "acme.poison");
  refuse(stage, epoch, 1, "no \"room\"");
  CHECK(stage.stored_types("_runwire").empty());
  refuse(stage, epoch, 1, "no \"room\"");
  CHECK(stage.stored_types("_runwire") == one_note);
  CHECK(stage.core->positions().acknowledged.value == 1);
  stage.ack("audit", epoch, 2);
  REQUIRE(stage.sinks.shown.size() == 2);
  CHECK(stage.sinks.shown[1].subject == "_runwire");
  CHECK(stage.sinks.shown[1].data ==
        R"({"first":1,"last":1,"observer":"audit","reason":"no \"room\""})");
  CHECK(row_of(stage, "audit").skipped == 1);
  CHECK(row_of(stage, "audit").refusals == 2);
}

TEST_CASE("Core: kill -9 keeps a skip, its event and the ack that it made",
          "[engine][core][observe]") {
  CoreStage stage(skipping(1));
  const Epoch epoch = stage.attach("audit");
  stage.put("s", "acme.poison");
  stage.core->take(wire::Ack{.observer = "audit",
                             .log = stage.store->log_id(),
                             .term = stage.store->term(),
                             .epoch = epoch,
                             .position = {1},
                             .refused = true,
                             .reason = "no"});
  stage.step();  // The batch with the record; the ack itself is not written yet.
  stage.reopen();
  CHECK(stage.core->positions().acknowledged.value == 1);
  CHECK(stage.stored_types("_runwire") == one_note);
  CHECK(row_of(stage, "audit").skipped == 1);
}

TEST_CASE("Core: what could not be recorded is not skipped", "[engine][core][observe]") {
  CoreStage stage(skipping(1));
  const Epoch epoch = stage.attach("audit");
  stage.put("s", "acme.poison");
  stage.store->fail_next_append(ErrorCode::store_full);
  refuse(stage, epoch, 1, "no");
  CHECK(stage.core->positions().acknowledged.value == 0);
  CHECK(stage.stored_types("_runwire").empty());
  refuse(stage, epoch, 1, "no");
  CHECK(stage.core->positions().acknowledged.value == 1);
}

TEST_CASE("Core: a refused note is skipped without another note", "[engine][core][observe]") {
  CoreStage stage(skipping(1));
  const Epoch epoch = stage.attach("audit");
  stage.put("s", "acme.poison");
  refuse(stage, epoch, 1, "no");
  refuse(stage, epoch, 2, "no");
  CHECK(stage.core->positions().acknowledged.value == 2);
  CHECK(stage.stored_types("_runwire") == one_note);
  CHECK(row_of(stage, "audit").skipped == 2);
}

TEST_CASE("Core: a full window still has room for a skip", "[engine][core][observe][bound]") {
  EngineOptions options = skipping(1);
  options.window_events_max = 1;
  CoreStage stage(options);
  const Epoch epoch = stage.attach("audit");
  stage.put("s", "acme.poison");
  CHECK(stage.put("s", "acme.more").code() == ErrorCode::backpressure);
  refuse(stage, epoch, 1, "no");
  stage.ack("audit", epoch, 2);
  CHECK(stage.put("s", "acme.more").good());
}

TEST_CASE("Core: a suspended observer holds nobody back, through a restart, until it is resumed",
          "[engine][core][observe]") {
  CoreStage stage({.required = {"audit", "billing"}});
  Epoch audit = stage.attach("audit");
  Epoch billing = stage.attach("billing");
  stage.put("s", "acme.a");
  stage.ack("audit", audit, 1);
  CHECK(stage.command(wire::Suspend{"nobody"}).code() == ErrorCode::not_found);
  Answered& suspended = stage.command(wire::Suspend{"audit"});
  REQUIRE(suspended.good());
  CHECK(std::get<wire::SuspendReply>(suspended.outcome->answer).acked == Position{1});
  stage.put("s", "acme.b");
  stage.ack("billing", billing, 2);
  CHECK(stage.core->positions().acknowledged.value == 2);

  store_acks(stage);
  stage.reopen();
  CHECK(stage.core->positions().acknowledged.value == 2);
  CHECK(row_of(stage, "audit").state == "suspended");
  audit = stage.attach("audit");
  billing = stage.attach("billing");
  stage.put("s", "acme.c");
  stage.ack("billing", billing, 3);
  CHECK(stage.core->positions().acknowledged.value == 3);
  CHECK(row_of(stage, "audit").acked == Position{1});

  REQUIRE(stage.command(wire::Resume{"audit"}).good());
  CHECK(stage.core->positions().acknowledged.value == 3);
  stage.put("s", "acme.d");
  REQUIRE(stage.sinks.deliveries.back().observer == "audit");
  stage.ack("audit", audit, 3);
  CHECK(stage.core->positions().acknowledged.value == 3);
  stage.ack("audit", audit, 4);
  stage.ack("billing", billing, 4);
  CHECK(stage.core->positions().acknowledged.value == 4);
}

TEST_CASE("Core: a resumed observer catches up after a restart without taking anything back",
          "[engine][core][observe]") {
  CoreStage stage({.required = {"audit"}});
  stage.command(wire::Suspend{"audit"});
  stage.put("s", "acme.a");
  stage.put("s", "acme.b");
  CHECK(stage.core->positions().acknowledged.value == 2);
  stage.command(wire::Resume{"audit"});
  stage.reopen();
  CHECK(stage.core->positions().acknowledged.value == 2);
  stage.put("s", "acme.c");
  CHECK(stage.core->positions().acknowledged.value == 2);
  const Epoch epoch = stage.attach("audit");
  REQUIRE(stage.sinks.deliveries.size() == 1);
  CHECK(stage.sinks.deliveries[0].page.entries.front().position == Position{1});
  stage.ack("audit", epoch, 3);
  CHECK(stage.core->positions().acknowledged.value == 3);
}

TEST_CASE("Core: a suspension that could not be recorded does not hold",
          "[engine][core][observe]") {
  CoreStage stage({.required = {"audit"}});
  stage.put("s", "acme.a");
  stage.store->fail_next_append(ErrorCode::store_full);
  CHECK(stage.command(wire::Suspend{"audit"}).code() == ErrorCode::store_full);
  CHECK(stage.core->positions().acknowledged.value == 0);
  CHECK(row_of(stage, "audit").state == "absent");
}

TEST_CASE("Core: rows say how much is owed, and for how long", "[engine][core][observe]") {
  CoreStage stage({.required = {"audit"}});
  CHECK(row_of(stage, "audit").oldest_ms == 0);
  stage.put("s", "acme.a");
  stage.clock.advance(1500ms);
  stage.put("s", "acme.b");
  const Epoch epoch = stage.attach("audit");
  const wire::ObserverRow both = row_of(stage, "audit");
  CHECK(both.owed == 2);
  CHECK(both.oldest_ms == 1500);
  CHECK(both.epoch == epoch);
  stage.ack("audit", epoch, 1);
  const wire::ObserverRow one = row_of(stage, "audit");
  CHECK(one.owed == 1);
  CHECK(one.oldest_ms == 0);
  CHECK(one.owed_bytes * 2 == both.owed_bytes);
}

TEST_CASE("Core: a name goes and comes back through three compositions, and its ack with it",
          "[engine][core][observe]") {
  CoreStage stage({.required = {"audit", "billing"}});
  stage.ack("audit", stage.attach("audit"), 0);
  stage.put("s", "acme.a");
  stage.reopen({.required = {"billing"}});
  stage.ack("billing", stage.attach("billing"), 1);
  stage.put("s", "acme.b");
  CHECK(row_of(stage, "audit").state == "retired");
  CHECK(row_of(stage, "audit").acked == Position{0});
  stage.ack("billing", Epoch{1}, 2);
  CHECK(stage.core->positions().acknowledged.value == 2);
  store_acks(stage);
  stage.reopen({.required = {"billing", "audit"}});  // Back, and behind the other one now.
  CHECK(stage.core->positions().acknowledged.value == 2);
  const Epoch audit = stage.attach("audit");
  REQUIRE_FALSE(stage.sinks.deliveries.empty());
  CHECK(stage.sinks.deliveries[0].page.entries.front().position == Position{1});
  stage.ack("billing", stage.attach("billing"), 2);
  stage.put("s", "acme.c");
  CHECK(stage.core->positions().acknowledged.value == 2);
  stage.ack("billing", Epoch{1}, 3);
  stage.ack("audit", audit, 3);
  CHECK(stage.core->positions().acknowledged.value == 3);
}
