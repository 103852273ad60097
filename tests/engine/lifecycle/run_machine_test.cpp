#include "engine/lifecycle/run_machine.hpp"

#include "codec/base/limits.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace runwire;

namespace {

struct Said {
  TypeOf type{};
  Payload payload{};
};

Said run(Step step) {
  return {{Root::run, step}, {}};
}
Said turn(Step step, std::uint64_t number) {
  return {{Root::turn, step}, {.turn = number}};
}
Said model(Step step, const std::string& id) {
  return {{Root::model, step}, {.turn = 1, .operation_id = id}};
}
Said tool(Step step, const std::string& id) {
  return {{Root::tool, step}, {.turn = 1, .call_id = id, .name = "bash"}};
}
Said interaction(Step step, const std::string& id) {
  return {{Root::interaction, step}, {.turn = 1, .interaction_id = id}};
}
Said text(Step step, const std::string& id, std::uint64_t index = 0) {
  return {{Root::text, step}, {.index = index, .operation_id = "op", .content_id = id}};
}

bool allowed(const RunMachine& machine, const Said& said) {
  const Status status = machine.check(said.type, said.payload);
  if (!status) REQUIRE(status.error().code == ErrorCode::lifecycle);
  return status.has_value();
}

RunMachine after(const std::vector<Said>& story) {
  RunMachine machine;
  for (const Said& said : story) {
    REQUIRE(allowed(machine, said));
    machine.apply(said.type, said.payload);
  }
  return machine;
}

using enum Step;

}  // namespace

TEST_CASE("RunMachine: a run starts once and ends once", "[engine][lifecycle]") {
  const RunMachine fresh;
  CHECK(allowed(fresh, run(started)));
  for (const Step step : {completed, failed, cancelled}) {
    CHECK_FALSE(allowed(fresh, run(step)));
    const RunMachine over = after({run(started), run(step)});
    CHECK(runwire::ended(over.state()));
    for (const Step again : {started, completed, failed, cancelled})
      CHECK_FALSE(allowed(over, run(again)));
    CHECK_FALSE(allowed(over, turn(started, 1)));
  }
}

TEST_CASE("RunMachine: every scope starts once, in its parent, and ends once",
          "[engine][lifecycle]") {
  using Make = Said (*)(Step, const std::string&);
  for (const Make make : {Make{model}, Make{tool}, Make{interaction}}) {
    CHECK_FALSE(allowed(after({run(started)}), make(started, "a")));
    CHECK_FALSE(
        allowed(after({run(started), turn(started, 1), turn(completed, 1)}), make(started, "a")));
    const RunMachine in_turn = after({run(started), turn(started, 1)});
    CHECK(allowed(in_turn, make(started, "a")));
    for (const Step step : {completed, failed, cancelled}) {
      CHECK_FALSE(allowed(in_turn, make(step, "a")));
      const RunMachine over =
          after({run(started), turn(started, 1), make(started, "a"), make(step, "a")});
      CHECK_FALSE(allowed(over, make(started, "a")));
      for (const Step again : {completed, failed, cancelled})
        CHECK_FALSE(allowed(over, make(again, "a")));
      CHECK(allowed(over, make(started, "b")));
    }
  }
}

TEST_CASE("RunMachine: identities of different kinds do not collide", "[engine][lifecycle]") {
  const RunMachine machine =
      after({run(started), turn(started, 1), model(started, "op"), tool(started, "op")});
  CHECK(allowed(machine, interaction(started, "op")));
  CHECK(machine.open_count() == 3);
}

TEST_CASE("RunMachine: nothing completes over open children, failing may", "[engine][lifecycle]") {
  const RunMachine machine =
      after({run(started), turn(started, 1), model(started, "op"), text(started, "t")});
  CHECK_FALSE(allowed(machine, run(completed)));
  CHECK_FALSE(allowed(machine, turn(completed, 1)));
  CHECK_FALSE(allowed(machine, model(completed, "op")));
  CHECK(allowed(machine, run(failed)));
  CHECK(allowed(machine, turn(cancelled, 1)));
  CHECK(allowed(machine, model(failed, "op")));
}

TEST_CASE("C33 RunMachine: deltas come between started and ended of their content",
          "[engine][lifecycle]") {
  const RunMachine operation = after({run(started), turn(started, 1), model(started, "op")});
  CHECK_FALSE(allowed(operation, text(delta, "t")));
  CHECK_FALSE(allowed(operation, text(Step::ended, "t")));
  const RunMachine open =
      after({run(started), turn(started, 1), model(started, "op"), text(started, "t")});
  CHECK(allowed(open, text(delta, "t", 0)));
  CHECK(allowed(open, text(Step::ended, "t")));
  const RunMachine over = after({run(started),
                                 turn(started, 1),
                                 model(started, "op"),
                                 text(started, "t"),
                                 text(delta, "t", 0),
                                 text(Step::ended, "t")});
  CHECK_FALSE(allowed(over, text(delta, "t", 1)));
  CHECK_FALSE(allowed(over, text(Step::ended, "t")));
  CHECK_FALSE(allowed(over, text(started, "t")));
  CHECK(allowed(over, text(started, "u")));
}

TEST_CASE("RunMachine: contents end with their operation", "[engine][lifecycle]") {
  const RunMachine machine = after({run(started),
                                    turn(started, 1),
                                    model(started, "op"),
                                    text(started, "t"),
                                    model(failed, "op")});
  CHECK_FALSE(allowed(machine, text(delta, "t")));
  CHECK_FALSE(allowed(machine, text(Step::ended, "t")));
  CHECK(machine.open_count() == 1);
}

TEST_CASE("RunMachine: what lies open is listed innermost and youngest first",
          "[engine][lifecycle]") {
  const RunMachine machine = after({run(started),
                                    turn(started, 1),
                                    turn(started, 2),
                                    model(started, "op"),
                                    tool(started, "call"),
                                    text(started, "t")});
  const auto open = machine.open_under({Root::run, failed}, {});
  REQUIRE(open.size() == 4);
  CHECK(open[0].identity == "call");
  CHECK(open[1].identity == "op");
  CHECK(open[1].has_content);
  CHECK(open[2].identity == "2");
  CHECK(open[3].identity == "1");
  const auto in_turn = machine.open_under({Root::turn, failed}, {.turn = 1});
  CHECK(in_turn.size() == 2);
  CHECK(machine.open_under({Root::turn, failed}, {.turn = 2}).empty());
}

TEST_CASE("RunMachine: open scopes are bounded", "[engine][lifecycle][bound]") {
  RunMachine machine = after({run(started)});
  for (std::uint64_t number = 1; number <= limits::open_scopes_max; ++number) {
    const Said said = turn(started, number);
    REQUIRE(machine.check(said.type, said.payload));
    machine.apply(said.type, said.payload);
  }
  CHECK_FALSE(allowed(machine, turn(started, limits::open_scopes_max + 1)));
  const Said one_less = turn(completed, 1);
  machine.apply(one_less.type, one_less.payload);
  CHECK(allowed(machine, turn(started, limits::open_scopes_max + 1)));
}
