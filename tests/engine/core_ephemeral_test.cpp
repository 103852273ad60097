#include "codec/base/limits.hpp"
#include "tests/support/core_stage.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace runwire;
using test::Answered;
using test::CoreStage;

namespace {

std::string delta(int index) {
  return R"({"text_id":"t","index":)" + std::to_string(index) + R"(,"delta":"d"})";
}

void open_text(CoreStage& stage) {
  stage.put("r", "run.started");
  stage.put("r", "turn.started", R"({"turn":1})");
  stage.put("r", "model.started", R"({"turn":1,"operation_id":"o","model":"m","attempt":1})");
  stage.put("r", "text.started", R"({"operation_id":"o","text_id":"t"})");
}

}  // namespace

TEST_CASE("Core: an ephemeral event with nothing before it goes out at once and is never stored",
          "[engine][core]") {
  CoreStage stage;
  open_text(stage);
  const std::size_t stored = stage.store->last().value;
  Answered& said =
      stage.append({.subject = "r", .events = {CoreStage::draft("text.delta", delta(0))}});
  stage.core->turn();
  REQUIRE(said.good());
  CHECK(said.append().seqs == std::vector<Sequence>{{0}});
  CHECK(stage.sinks.shown.back().type == "text.delta");
  CHECK_FALSE(stage.sinks.shown.back().durable.has_value());
  CHECK(stage.store->last().value == stored);
}

TEST_CASE("C33 Core: ephemeral events ride between their durable neighbours", "[engine][core]") {
  CoreStage stage({.required = {"audit"}});
  const Epoch epoch = stage.attach("audit");
  open_text(stage);
  stage.ack("audit", epoch, 4);
  stage.append({.subject = "r", .events = {CoreStage::draft("text.delta", delta(0))}});
  stage.append({.subject = "r", .events = {CoreStage::draft("acme.between")}});
  stage.append({.subject = "r", .events = {CoreStage::draft("text.delta", delta(1))}});
  stage.append(
      {.subject = "r",
       .events = {CoreStage::draft(
           "text.ended", R"({"operation_id":"o","text_id":"t","text":"dd","deltas":2})")}});
  stage.settle();
  CHECK(stage.sinks.shown_types().back() == "text.delta");  // delta 0, nothing else yet
  stage.ack("audit", epoch, 6);
  const std::vector<std::string> all = stage.sinks.shown_types();
  CHECK(std::vector<std::string>(all.end() - 4, all.end()) ==
        std::vector<std::string>{"text.delta", "acme.between", "text.delta", "text.ended"});
}

TEST_CASE("Core: other runs' deltas flow while one run waits for its observer", "[engine][core]") {
  CoreStage stage({.required = {"audit"}});
  const Epoch epoch = stage.attach("audit");
  open_text(stage);
  stage.ack("audit", epoch, 4);
  stage.put("slow", "acme.owed");
  stage.append({.subject = "r", .events = {CoreStage::draft("text.delta", delta(0))}});
  stage.settle();
  CHECK(stage.sinks.shown.back().type == "text.delta");
}

TEST_CASE("Core: held ephemeral events are bounded by count and counted", "[engine][core][bound]") {
  CoreStage stage({.required = {"audit"}});
  const Epoch epoch = stage.attach("audit");
  stage.put("s", "acme.owed");
  const std::size_t over = 3;
  for (std::size_t at = 0; at < limits::held_subject_events_max + over; ++at) {
    Draft draft = CoreStage::draft("acme.tick");
    draft.durable = false;
    REQUIRE(stage.append({.subject = "s", .events = {draft}}).good());
  }
  stage.ack("audit", epoch, 1);
  CHECK(stage.sinks.shown.size() == 1 + limits::held_subject_events_max);
  Answered& status = stage.command(wire::GetStatus{});
  for (const Fact& fact : std::get<wire::StatusReply>(status.outcome->answer).status) {
    if (fact.name == "live.held_dropped") CHECK(std::get<std::uint64_t>(fact.value) == over);
  }
}

TEST_CASE("C02 Core: a best-effort sink without room is counted and holds nobody up",
          "[engine][core]") {
  CoreStage stage;
  stage.sinks.room = false;
  CHECK(stage.put("s", "acme.a").good());
  CHECK(stage.core->positions().published == Position{1});
  stage.sinks.room = true;
  stage.put("s", "acme.b");
  CHECK(stage.sinks.shown_positions == std::vector<Position>{{2}});
}

TEST_CASE("Core: ephemeral events without a subject go out at once", "[engine][core]") {
  CoreStage stage;
  Draft draft = CoreStage::draft("acme.tick");
  draft.durable = false;
  Answered& said = stage.append({.events = {draft}});
  stage.core->turn();
  CHECK(said.good());
  CHECK(stage.sinks.shown.back().subject.empty());
  CHECK(stage.append({.events = {CoreStage::draft("acme.durable")}}).code() == ErrorCode::invalid);
}

TEST_CASE("Core: what was shown before a committed neighbour is not shown again with a repeat",
          "[engine][core]") {
  CoreStage stage;
  Draft seen = CoreStage::draft("acme.tick");
  seen.durable = false;
  Draft late = CoreStage::draft("acme.tock");
  late.durable = false;
  Draft kept = CoreStage::draft("acme.kept");
  kept.id.bytes.back() = std::byte{9};
  wire::Append request{.subject = "r", .events = {seen, kept, late}};
  stage.append(request);
  stage.settle();
  const std::size_t shown = stage.sinks.shown.size();
  request.again = true;
  Answered& repeated = stage.append(request);
  stage.settle();
  REQUIRE(repeated.good());
  CHECK(repeated.append().taken == 3);
  const std::vector<std::string> all = stage.sinks.shown_types();
  CHECK(std::vector<std::string>(all.begin() + static_cast<std::ptrdiff_t>(shown), all.end()) ==
        std::vector<std::string>{"acme.tock"});
}
