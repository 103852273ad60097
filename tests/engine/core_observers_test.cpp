#include "tests/support/core_stage.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace runwire;
using namespace std::chrono_literals;
using test::Answered;
using test::CoreStage;

namespace {

wire::Append acknowledged(const std::string& subject, std::uint64_t deadline_ms) {
  return {.subject = subject,
          .events = {CoreStage::draft("acme.x")},
          .level = wire::Level::acknowledged,
          .deadline_ms = deadline_ms};
}

}  // namespace

TEST_CASE("C03 Core: nothing is shown before the required observer has acked it",
          "[engine][core][observe]") {
  CoreStage stage({.required = {"audit"}});
  stage.put("s", "acme.a");
  stage.put("s", "acme.b");
  CHECK(stage.sinks.shown.empty());
  CHECK(stage.core->positions().committed == Position{2});
  CHECK(stage.core->positions().acknowledged == Position{0});
  const Epoch epoch = stage.attach("audit");
  CHECK(stage.sinks.shown.empty());
  stage.ack("audit", epoch, 1);
  CHECK(stage.sinks.shown_types() == std::vector<std::string>{"acme.a"});
  stage.ack("audit", epoch, 2);
  CHECK(stage.core->positions().published == Position{2});
}

TEST_CASE("Core: observers are fed one after the other, in construction order",
          "[engine][core][observe]") {
  CoreStage stage({.required = {"first", "second"}});
  const Epoch first = stage.attach("first");
  const Epoch second = stage.attach("second");
  stage.put("s", "acme.a");
  REQUIRE(stage.sinks.deliveries.size() == 1);
  CHECK(stage.sinks.deliveries[0].observer == "first");
  stage.ack("first", first, 1);
  REQUIRE(stage.sinks.deliveries.size() == 2);
  CHECK(stage.sinks.deliveries[1].observer == "second");
  CHECK(stage.sinks.shown.empty());
  stage.ack("second", second, 1);
  CHECK(stage.sinks.shown.size() == 1);
}

TEST_CASE("C05 Core: an append that asked for acknowledged ends at its deadline, named",
          "[engine][core][observe]") {
  CoreStage stage({.required = {"audit"}});
  Answered& waiting = stage.append(acknowledged("s", 2000));
  Answered& committed = stage.append({.subject = "s", .events = {CoreStage::draft("acme.y")}});
  stage.settle();
  CHECK(committed.good());
  stage.clock.advance(1999ms);
  stage.settle();
  CHECK_FALSE(waiting.outcome);
  stage.clock.advance(1ms);
  stage.settle();
  CHECK(waiting.code() == ErrorCode::observer_timeout);
  CHECK(waiting.outcome->error->text("observer") == "audit");
  CHECK(waiting.outcome->error->number("seq") == 1);
  CHECK(waiting.append().seqs == std::vector<Sequence>{{1}});
  const Epoch epoch = stage.attach("audit");
  stage.ack("audit", epoch, 2);
  CHECK(stage.sinks.shown.size() == 2);
}

TEST_CASE("Core: a refusal is told to the appender that waits, the event stays owed",
          "[engine][core][observe]") {
  CoreStage stage({.required = {"audit"}});
  const Epoch epoch = stage.attach("audit");
  Answered& waiting = stage.append(acknowledged("s", 60'000));
  stage.settle();
  stage.core->take(wire::Ack{.observer = "audit",
                             .log = stage.store->log_id(),
                             .term = stage.store->term(),
                             .epoch = epoch,
                             .position = {1},
                             .refused = true,
                             .reason = "no thanks"});
  stage.settle();
  CHECK(waiting.code() == ErrorCode::observer_refused);
  CHECK(waiting.outcome->error->text("reason") == "no thanks");
  const std::size_t delivered = stage.sinks.deliveries.size();
  stage.clock.advance(200ms);
  stage.settle();
  CHECK(stage.sinks.deliveries.size() == delivered + 1);
  stage.ack("audit", epoch, 1);
  CHECK(stage.sinks.shown.size() == 1);
}

TEST_CASE("Core: acks survive a crash, what was not stored is owed again",
          "[engine][core][observe]") {
  CoreStage stage({.required = {"audit"}});
  const Epoch epoch = stage.attach("audit");
  stage.put("s", "acme.a");
  stage.put("s", "acme.b");
  stage.ack("audit", epoch, 1);
  stage.put("s", "acme.c");  // its batch carries the ack
  stage.reopen();
  CHECK(stage.core->positions().acknowledged == Position{1});
  stage.attach("audit");
  REQUIRE(stage.sinks.deliveries.size() == 1);
  CHECK(stage.sinks.deliveries[0].page.entries.front().position == Position{2});
  CHECK(stage.sinks.deliveries[0].page.entries.size() == 2);
}

TEST_CASE("Core: an ack alone is stored within its delay", "[engine][core][observe]") {
  CoreStage stage({.required = {"audit"}});
  const Epoch epoch = stage.attach("audit");
  stage.put("s", "acme.a");
  stage.ack("audit", epoch, 1);
  stage.clock.advance(limits::ack_store_delay);
  stage.settle();
  stage.reopen();
  CHECK(stage.core->positions().acknowledged == Position{1});
}

TEST_CASE("C53 Core: a zombie's ack is refused and answered with the current epoch",
          "[engine][core][observe]") {
  CoreStage stage({.required = {"audit"}});
  const Epoch zombie = stage.attach("audit");
  stage.put("s", "acme.a");
  const Epoch current = stage.attach("audit");
  stage.ack("audit", zombie, 1);
  CHECK(stage.core->positions().acknowledged == Position{0});
  REQUIRE(stage.sinks.fences.size() == 1);
  CHECK(stage.sinks.fences[0] == std::pair{zombie, current});
}

TEST_CASE("Core: a name seen first starts at what is acknowledged", "[engine][core][observe]") {
  CoreStage stage;
  stage.put("s", "acme.a");
  stage.reopen({.required = {"audit"}});
  CHECK(stage.core->positions().acknowledged == Position{1});
  stage.put("s", "acme.b");
  stage.attach("audit");
  REQUIRE(stage.sinks.deliveries.size() == 1);
  CHECK(stage.sinks.deliveries[0].page.entries.front().position == Position{2});
}

TEST_CASE("Core: by option a new name starts at the start and gates only what comes after",
          "[engine][core][observe]") {
  CoreStage stage;
  stage.put("s", "acme.a");
  stage.reopen({.required = {"audit"}, .new_observers_from_start = true});
  CHECK(stage.core->positions().acknowledged == Position{1});
  const Epoch epoch = stage.attach("audit");
  REQUIRE(stage.sinks.deliveries.size() == 1);
  CHECK(stage.sinks.deliveries[0].page.entries.front().position == Position{1});
  stage.put("s", "acme.b");
  CHECK(stage.core->positions().acknowledged == Position{1});
  stage.ack("audit", epoch, 2);
  CHECK(stage.core->positions().acknowledged == Position{2});
}

TEST_CASE("Core: a retired name gates nothing, and comes back at its stored ack",
          "[engine][core][observe]") {
  CoreStage stage({.required = {"audit"}});
  stage.put("s", "acme.a");
  stage.reopen(EngineOptions{});
  stage.put("s", "acme.b");
  CHECK(stage.core->positions().acknowledged == Position{2});
  Answered& rows = stage.command(wire::Observers{});
  CHECK(std::get<wire::ObserversReply>(rows.outcome->answer).observers.at(0).state == "retired");
  stage.reopen({.required = {"audit"}});
  CHECK(stage.core->positions().acknowledged == Position{2});
  stage.attach("audit");
  REQUIRE(stage.sinks.deliveries.size() == 1);
  CHECK(stage.sinks.deliveries[0].page.entries.front().position == Position{1});
}

TEST_CASE("C40 Core: a consumer's own cursor is checked at attach", "[engine][core][observe]") {
  CoreStage stage({.required = {"audit"}});
  Answered& foreign =
      stage.command(wire::Attach{.observer = "audit", .log = LogId{{std::byte{99}}}});
  CHECK(foreign.code() == ErrorCode::cursor_foreign);
  Answered& ahead = stage.command(wire::Attach{.observer = "audit", .position = Position{5}});
  CHECK(ahead.code() == ErrorCode::cursor_ahead);
  CHECK(stage.command(wire::Attach{.observer = "nobody"}).code() == ErrorCode::not_found);
}
