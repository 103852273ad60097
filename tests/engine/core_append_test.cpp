#include "codec/base/limits.hpp"
#include "tests/support/core_stage.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace runwire;
using test::Answered;
using test::CoreStage;

TEST_CASE("Core: a receipt comes after the sync, with sequence and position", "[engine][core]") {
  CoreStage stage;
  Answered& first = stage.append({.subject = "a", .events = {CoreStage::draft("acme.one")}});
  Answered& second = stage.append({.subject = "b", .events = {CoreStage::draft("acme.two")}});
  CHECK_FALSE(first.outcome);
  stage.settle();
  REQUIRE(first.good());
  CHECK(first.append().seqs == std::vector<Sequence>{{1}});
  CHECK(first.append().positions == std::vector<Position>{{1}});
  CHECK(second.append().seqs == std::vector<Sequence>{{1}});
  CHECK(second.append().positions == std::vector<Position>{{2}});
  CHECK(stage.store->appends() == 1);
}

TEST_CASE("Core: what is refused uses no number, and what was taken before it stays",
          "[engine][core]") {
  CoreStage stage;
  Answered& partly = stage.append({.subject = "run",
                                   .events = {CoreStage::draft("run.started"),
                                              CoreStage::draft("turn.completed", R"({"turn":1})"),
                                              CoreStage::draft("acme.never")}});
  stage.settle();
  CHECK(partly.code() == ErrorCode::lifecycle);
  CHECK(partly.append().taken == 1);
  CHECK(stage.put("run", "acme.next").append().seqs == std::vector<Sequence>{{2}});
}

TEST_CASE("Core: an event that the caller's thread refuses stops the append there",
          "[engine][core]") {
  CoreStage stage;
  Answered& partly =
      stage.append({.subject = "s",
                    .events = {CoreStage::draft("acme.good"),
                               CoreStage::draft("acme.bad", "{\"n\":9007199254740993}"),
                               CoreStage::draft("acme.never")}});
  stage.settle();
  CHECK(partly.code() == ErrorCode::invalid);
  CHECK(partly.append().taken == 1);
  CHECK(stage.stored_types("s") == std::vector<std::string>{"acme.good"});
}

TEST_CASE("Core: failing a scope closes its open children first", "[engine][core][lifecycle]") {
  CoreStage stage;
  stage.put("r", "run.started");
  stage.put("r", "turn.started", R"({"turn":1})");
  stage.put("r", "model.started", R"({"turn":1,"operation_id":"op","model":"m","attempt":1})");
  stage.put("r", "tool.started", R"({"turn":1,"call_id":"c","name":"bash"})");
  Answered& failed =
      stage.put("r", "run.failed", R"({"problem":{"code":"x","message":"y","retryable":false}})");
  REQUIRE(failed.good());
  CHECK(failed.append().seqs == std::vector<Sequence>{{8}});
  CHECK(stage.stored_types("r") == std::vector<std::string>{"run.started",
                                                            "turn.started",
                                                            "model.started",
                                                            "tool.started",
                                                            "tool.failed",
                                                            "model.failed",
                                                            "turn.failed",
                                                            "run.failed"});
  CHECK(stage.put("r", "acme.late").code() == ErrorCode::lifecycle);
}

TEST_CASE("Core: a user's type needs no run, a reserved one does", "[engine][core][lifecycle]") {
  CoreStage stage;
  CHECK(stage.put("s", "acme.cache.hit").good());
  CHECK(stage.put("s", "turn.started", R"({"turn":1})").code() == ErrorCode::lifecycle);
  CHECK(stage.put("s", "run.paused").code() == ErrorCode::invalid);
  CHECK(stage.put("s", "run.started").good());
  CHECK(stage.put("_runwire", "acme.x").code() == ErrorCode::invalid);
}

TEST_CASE("C41 Core: the same id again is the first receipt, also after a crash",
          "[engine][core]") {
  CoreStage stage;
  Draft draft = CoreStage::draft("acme.once", R"({"n":1})");
  draft.id = stage.ids.event_id(0);
  const auto request = [&] { return wire::Append{.subject = "s", .events = {draft}}; };
  stage.append(request());
  Answered& while_pending = stage.append(request());
  CHECK_FALSE(while_pending.outcome);
  stage.settle();
  Answered& later = stage.append(request());
  stage.reopen();
  Answered& after_crash = stage.append(request());
  for (const Answered* again : {&while_pending, &later, &after_crash}) {
    REQUIRE(again->good());
    CHECK(again->append().seqs == std::vector<Sequence>{{1}});
    CHECK(again->append().positions == std::vector<Position>{{1}});
    CHECK(again->append().duplicates == std::vector<std::uint64_t>{0});
  }
  CHECK(stage.store->last() == Position{1});
}

TEST_CASE("C41 Core: the same id with other content is a conflict", "[engine][core]") {
  CoreStage stage;
  Draft draft = CoreStage::draft("acme.once", R"({"n":1})");
  draft.id = stage.ids.event_id(0);
  stage.append({.subject = "s", .events = {draft}});
  stage.settle();
  draft.data = R"({"n":2})";
  Answered& other = stage.append({.subject = "s", .events = {draft}});
  CHECK(other.code() == ErrorCode::conflict);
  CHECK(other.outcome->error->number("seq") == 1);
}

TEST_CASE("C41 Core: a retry over the run's end still gets its receipts", "[engine][core]") {
  CoreStage stage;
  std::vector<Draft> drafts{
      CoreStage::draft("run.started"),
      CoreStage::draft("turn.started", R"({"turn":1})"),
      CoreStage::draft("model.started", R"({"turn":1,"operation_id":"o","model":"m","attempt":1})"),
      CoreStage::draft("text.started", R"({"operation_id":"o","text_id":"t"})"),
      CoreStage::draft("text.delta", R"({"text_id":"t","index":0,"delta":"hi"})"),
      CoreStage::draft("text.ended",
                       R"({"operation_id":"o","text_id":"t","text":"hi","deltas":1})"),
      CoreStage::draft("run.cancelled", R"({"reason":"user"})")};
  for (Draft& draft : drafts)
    draft.id = stage.ids.event_id(0);
  stage.append({.subject = "r", .events = drafts});
  stage.settle();
  const std::size_t shown = stage.sinks.shown.size();
  Answered& again = stage.append({.subject = "r", .events = drafts, .again = true});
  stage.settle();
  REQUIRE(again.good());
  CHECK(again.append().taken == drafts.size());
  CHECK(again.append().duplicates.size() == drafts.size() - 1);
  CHECK(stage.sinks.shown.size() == shown);
}

TEST_CASE("Core: expect makes an append conditional", "[engine][core]") {
  CoreStage stage;
  stage.put("s", "acme.a");
  Answered& wrong =
      stage.append({.subject = "s", .events = {CoreStage::draft("acme.b")}, .expect = Sequence{0}});
  stage.settle();
  CHECK(wrong.code() == ErrorCode::unexpected_seq);
  CHECK(wrong.outcome->error->number("last") == 1);
  Answered& right =
      stage.append({.subject = "s",
                    .events = {CoreStage::draft("acme.b"), CoreStage::draft("acme.c")},
                    .expect = Sequence{1}});
  stage.settle();
  CHECK(right.good());
}

TEST_CASE("Core: what was pipelined behind a refusal is refused until the appender goes on",
          "[engine][core]") {
  CoreStage stage;
  const InstanceId client = stage.ids.instance_id();
  const InstanceId other = stage.ids.instance_id();
  Draft refused = CoreStage::draft("turn.started", R"({"turn":1})");
  refused.id = stage.ids.event_id(0);
  stage.append({.subject = "s", .events = {refused}}, client);
  Answered& behind = stage.append({.subject = "s", .events = {CoreStage::draft("acme.b")}}, client);
  CHECK(stage.append({.subject = "s", .events = {CoreStage::draft("acme.c")}}, other)
            .outcome.has_value() == false);
  Answered& elsewhere =
      stage.append({.subject = "t", .events = {CoreStage::draft("acme.d")}}, client);
  stage.settle();
  CHECK(behind.code() == ErrorCode::out_of_order);
  CHECK(elsewhere.good());
  SECTION("by saying so") {
    Answered& on = stage.append(
        {.subject = "s", .events = {CoreStage::draft("acme.b")}, .go_on = true}, client);
    stage.settle();
    CHECK(on.good());
  }
  SECTION("by sending the refused event again") {
    refused.type = "acme.mended";
    Answered& on = stage.append({.subject = "s", .events = {refused}}, client);
    stage.settle();
    CHECK(on.good());
  }
}

TEST_CASE("C43 Core: over the window appends are refused, terminals have room of their own",
          "[engine][core][bound]") {
  CoreStage stage({.required = {"audit"}, .window_events_max = 4});
  stage.put("r", "run.started");
  for (int at = 0; at < 3; ++at)
    CHECK(stage.put("r", "acme.x").good());
  Answered& over = stage.put("r", "acme.x");
  CHECK(over.code() == ErrorCode::backpressure);
  CHECK(over.outcome->error->number("events_max") == 4);
  CHECK(stage.put("r", "run.completed").append().seqs == std::vector<Sequence>{{5}});
  const Epoch epoch = stage.attach("audit");
  stage.ack("audit", epoch, 5);
  CHECK(stage.put("s", "acme.x").good());
}

TEST_CASE(
    "C05 Core: the window is bounded by bytes, to the byte, and refuses before a number is used",
    "[engine][core][bound]") {
  const std::size_t over = GENERATE(std::size_t{0}, std::size_t{1});
  CoreStage stage({.required = {"audit"}, .window_bytes_max = limits::event_bytes_max});
  const auto text = [](std::size_t bytes) { return "\"" + std::string(bytes - 2, 'a') + "\""; };
  constexpr std::size_t half = limits::event_bytes_max / 2;
  stage.put("r", "run.started");
  stage.put("r", "acme.x", text(half));
  const auto bytes_now = [&] {
    Answered& answered = stage.command(wire::GetStatus{});
    for (const Fact& fact : std::get<wire::StatusReply>(answered.outcome->answer).status) {
      if (fact.name == "window.bytes") return std::get<std::uint64_t>(fact.value);
    }
    return std::uint64_t{0};
  };
  const std::uint64_t before = bytes_now();
  stage.put("r", "acme.x", text(100'000));
  const std::size_t overhead = bytes_now() - before - 100'000;
  const std::size_t left = limits::event_bytes_max - bytes_now() - overhead;
  Answered& last = stage.put("r", "acme.x", text(left + over));
  if (over == 0) {
    CHECK(last.good());
    CHECK(bytes_now() == limits::event_bytes_max);
  } else {
    CHECK(last.code() == ErrorCode::backpressure);
    CHECK(stage.core->positions().appended.value == 3);
  }
  CHECK(stage.put("r", "run.completed").good());
}

TEST_CASE("C43 Core: the room of terminals ends too, and then nothing more is taken",
          "[engine][core][bound]") {
  CoreStage stage({.required = {"audit"}, .window_events_max = limits::window_reserve_events + 1});
  std::vector<std::string> runs;
  for (std::size_t at = 0; at <= limits::window_reserve_events; ++at)
    runs.push_back("r" + std::to_string(at));
  for (const std::string& run : runs)
    REQUIRE(stage.put(run, "run.started").good());
  for (std::size_t at = 0; at < limits::window_reserve_events; ++at)
    REQUIRE(stage.put(runs[at], "run.completed").good());
  CHECK(stage.put(runs.back(), "run.completed").code() == ErrorCode::backpressure);
  const Epoch epoch = stage.attach("audit");
  stage.ack("audit", epoch, 1);
  CHECK(stage.put(runs.back(), "run.completed").good());
}

TEST_CASE("C46 Core: after a failed sync every append is refused until reopened",
          "[engine][core][fault]") {
  CoreStage stage;
  stage.put("s", "acme.a");
  stage.store->fail_next_append(ErrorCode::store_failed);
  Answered& unknown = stage.put("s", "acme.b");
  CHECK(unknown.code() == ErrorCode::store_failed);
  CHECK(stage.put("s", "acme.c").code() == ErrorCode::store_failed);
  CHECK(stage.core->positions().committed == Position{1});
  stage.reopen();
  CHECK(stage.put("s", "acme.d").append().seqs == std::vector<Sequence>{{2}});
}

TEST_CASE("C47 Core: a full disk uses no number and is left without a restart",
          "[engine][core][fault]") {
  CoreStage stage;
  stage.put("r", "run.started");
  stage.store->fail_next_append(ErrorCode::store_full);
  Answered& full =
      stage.append({.subject = "r", .events = {CoreStage::draft("turn.started", R"({"turn":1})")}});
  stage.core->turn();
  const auto records = stage.core->next_batch();
  Answered& behind = stage.append({.subject = "new", .events = {CoreStage::draft("acme.x")}});
  stage.core->completed(stage.store->append(records));
  stage.settle();
  CHECK(full.code() == ErrorCode::store_full);
  CHECK(behind.code() == ErrorCode::store_full);
  CHECK(stage.put("r", "turn.started", R"({"turn":1})").append().seqs ==
        std::vector<Sequence>{{2}});
  CHECK(stage.put("new", "acme.x").append().positions == std::vector<Position>{{3}});
}

TEST_CASE("C50 Core: a clock that goes back does not take the run's time back", "[engine][core]") {
  CoreStage stage;
  stage.put("s", "acme.a");
  const WallMicros before = stage.sinks.shown.back().time;
  stage.clock.set_wall(before - 3'600'000'000);
  stage.put("s", "acme.b");
  CHECK(stage.sinks.shown.back().time == before);
}
