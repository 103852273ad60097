#include "tests/support/core_stage.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace runwire;
using namespace std::chrono_literals;
using test::Answered;
using test::CoreStage;

namespace {

wire::Append owned(const std::string& type, const std::string& data, std::uint64_t epoch) {
  return {.subject = "r", .events = {CoreStage::draft(type, data)}, .epoch = Epoch{epoch}};
}

}  // namespace

TEST_CASE("Core: only the holder of a claim appends, and a lapsed lease ends the run",
          "[engine][core][lifecycle]") {
  CoreStage stage;
  const InstanceId holder = stage.ids.instance_id();
  const InstanceId other = stage.ids.instance_id();
  REQUIRE(stage.command(wire::Claim{.subject = "r", .epoch = {1}}, holder).good());
  Answered& started = stage.append(owned("run.started", "{}", 1), holder);
  Answered& stranger =
      stage.append({.subject = "r", .events = {CoreStage::draft("acme.x")}}, other);
  stage.settle();
  CHECK(started.good());
  CHECK(stranger.code() == ErrorCode::not_owner);
  stage.append(owned("turn.started", R"({"turn":1})", 1), holder);
  stage.settle();

  stage.clock.advance(9999ms);
  Answered& renewed = stage.command(wire::Renew{{{"r", Epoch{1}}}}, holder);
  CHECK(std::get<wire::RenewReply>(renewed.outcome->answer).lost.empty());
  stage.clock.advance(9999ms);
  stage.settle();
  CHECK(stage.stored_types("r").back() == "turn.started");
  stage.clock.advance(1ms);
  stage.settle();
  CHECK(stage.stored_types("r") ==
        std::vector<std::string>{"run.started", "turn.started", "turn.failed", "run.failed"});
  CHECK(stage.sinks.shown.back().data.find("owner_lost") != std::string::npos);
  Answered& late = stage.command(wire::Renew{{{"r", Epoch{1}}}}, holder);
  CHECK(std::get<wire::RenewReply>(late.outcome->answer).lost == std::vector<std::string>{"r"});
  CHECK(stage.append(owned("acme.late", "{}", 1), holder).outcome->error->code !=
        ErrorCode::internal);
  CHECK(stage.command(wire::Claim{.subject = "r", .epoch = {2}}, holder).code() ==
        ErrorCode::lifecycle);
}

TEST_CASE("C53 Core: a higher epoch takes a run over, the old owner is fenced",
          "[engine][core][lifecycle]") {
  CoreStage stage;
  const InstanceId first = stage.ids.instance_id();
  const InstanceId second = stage.ids.instance_id();
  stage.command(wire::Claim{.subject = "r", .epoch = {1}}, first);
  CHECK(stage.command(wire::Claim{.subject = "r", .epoch = {1}}, second).code() ==
        ErrorCode::fenced);
  REQUIRE(stage.command(wire::Claim{.subject = "r", .epoch = {2}}, second).good());
  Answered& stale = stage.append(owned("run.started", "{}", 1), first);
  stage.settle();
  CHECK(stale.code() == ErrorCode::fenced);
  CHECK(stale.outcome->error->number("epoch") == 2);
  Answered& current = stage.append(owned("run.started", "{}", 2), second);
  stage.settle();
  CHECK(current.good());
}

TEST_CASE("Core: a claimed run stays open over a restart, its lease starts anew in full",
          "[engine][core][lifecycle]") {
  CoreStage stage;
  const InstanceId holder = stage.ids.instance_id();
  stage.command(wire::Claim{.subject = "r", .epoch = {1}}, holder);
  stage.append(owned("run.started", "{}", 1), holder);
  stage.settle();
  stage.clock.advance(9s);
  stage.reopen();
  stage.clock.advance(9s);
  stage.settle();
  CHECK(stage.stored_types("r") == std::vector<std::string>{"run.started"});
  REQUIRE(stage.command(wire::Claim{.subject = "r", .epoch = {1}}, holder).good());
  Answered& on = stage.append(owned("turn.started", R"({"turn":1})", 1), holder);
  stage.settle();
  CHECK(on.good());
  stage.clock.advance(10s);
  stage.settle();
  CHECK(stage.stored_types("r").back() == "run.failed");
}

TEST_CASE("Core: a claim ends with the run's terminal", "[engine][core][lifecycle]") {
  CoreStage stage;
  const InstanceId holder = stage.ids.instance_id();
  stage.command(wire::Claim{.subject = "r", .epoch = {1}}, holder);
  stage.append(owned("run.started", "{}", 1), holder);
  stage.append(owned("run.completed", "{}", 1), holder);
  stage.settle();
  CHECK(stage.disk.control.claims.empty());
  stage.clock.advance(20s);
  stage.settle();
  CHECK(stage.stored_types("r") == std::vector<std::string>{"run.started", "run.completed"});
}

TEST_CASE("C35 Core: recovery ends what the dead process itself owned, once, children first",
          "[engine][core][lifecycle]") {
  CoreStage stage;
  const auto local = [&](const std::string& subject, std::vector<Draft> drafts) {
    stage.append({.subject = subject, .events = std::move(drafts)}, {}, true);
    stage.settle();
  };
  local("mine",
        {CoreStage::draft("run.started"),
         CoreStage::draft("turn.started", R"({"turn":1})"),
         CoreStage::draft("model.started",
                          R"({"turn":1,"operation_id":"o","model":"m","attempt":1})"),
         CoreStage::draft("text.started", R"({"operation_id":"o","text_id":"t"})"),
         CoreStage::draft("tool.started", R"({"turn":1,"call_id":"c","name":"bash"})"),
         CoreStage::draft("interaction.started",
                          R"({"turn":1,"interaction_id":"i","kind":"approval"})")});
  stage.put("theirs", "run.started");
  stage.reopen();
  const std::vector<std::string> after{"run.started",
                                       "turn.started",
                                       "model.started",
                                       "text.started",
                                       "tool.started",
                                       "interaction.started",
                                       "interaction.failed",
                                       "tool.failed",
                                       "model.failed",
                                       "turn.failed",
                                       "run.failed"};
  CHECK(stage.stored_types("mine") == after);
  CHECK(stage.stored_types("theirs") == std::vector<std::string>{"run.started"});
  stage.reopen();
  CHECK(stage.stored_types("mine") == after);
  CHECK(stage.put("theirs", "run.completed").good());
}
