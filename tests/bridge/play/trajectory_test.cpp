#include "bridge/play/recording.hpp"
#include "tests/bridge/play/run_checker.hpp"

namespace runwire::play::test {

namespace {

std::vector<Step> play(const Json& recording) {
  return played(recording.dump(2), Format::agent_trajectory);
}
Json step(const char* thought, const std::string& action, const std::string& observation) {
  return {
      {"thought", thought}, {"action", action}, {"observation", observation}, {"response", "said"}};
}

}  // namespace

TEST_CASE("trajectory: a step is a turn with a thought, a call and its result", "[play]") {
  const auto steps =
      play({{"trajectory", {step("I look around first, then I decide", "ls", "a.txt")}}});
  CHECK(terminal(steps) == "run.completed");
  CHECK(only(steps, "text.ended")["text"] == "I look around first, then I decide");
  CHECK(only(steps, "text.ended")["deltas"] == 2);
  CHECK(only(steps, "tool.input.ended")["input"] == Json{{"command", "ls"}});
  CHECK(only(steps, "tool.completed")["output"] == "a.txt");
  CHECK(only(steps, "tool.completed")["call_id"] == only(steps, "tool.input.ended")["call_id"]);
  CHECK(only(steps, "model.completed")["usage"] == Json::object());
}

TEST_CASE(
    "trajectory: a step without a thought says its response, one without an action calls nothing",
    "[play]") {
  const auto steps = play({{"trajectory", {step(" ", "", "ignored")}}});
  CHECK(only(steps, "text.ended")["text"] == "said");
  CHECK(all(steps, "tool.input.started").empty());
  CHECK(all(steps, "tool.started").empty());
}

TEST_CASE("trajectory: a response that is the action once more is not said", "[play]") {
  Json fenced = step("\n", "ls -a\n", "a.txt");
  fenced["response"] = "\n```\nls -a\n```";
  CHECK(only(play({{"trajectory", {fenced}}}), "text.ended")["text"] == "\n");
  fenced["thought"] = "";
  CHECK(all(play({{"trajectory", {fenced}}}), "text.ended").empty());
}

TEST_CASE("trajectory: long observations show progress and are cut at the bound", "[play]") {
  const auto output = [](std::size_t bytes) {
    return play({{"trajectory", {step("x", "cat", std::string(bytes, 'o'))}}});
  };
  CHECK(all(output(Bounds::progress_bytes_max), "tool.progress").empty());
  CHECK(all(output(Bounds::progress_bytes_max + 1), "tool.progress").size() == 2);
  CHECK(all(output(20000), "tool.progress").size() == Bounds::progress_events_max);
  CHECK(only(output(Bounds::output_bytes_max), "tool.completed")["output"] ==
        std::string(Bounds::output_bytes_max, 'o'));
  const std::string cut = only(output(Bounds::output_bytes_max + 1), "tool.completed")["output"];
  CHECK(cut.size() == Bounds::output_bytes_max);
  CHECK(cut.ends_with("(cut, 65537 bytes in all)"));
}

TEST_CASE("trajectory: a status other than submitted fails the run", "[play]") {
  const auto with = [](Json status) {
    return play(
        {{"trajectory", {step("x", "ls", "y")}}, {"info", {{"exit_status", std::move(status)}}}});
  };
  CHECK(terminal(with("submitted")) == "run.completed");
  CHECK(terminal(with("submitted (exit_cost)")) == "run.completed");
  CHECK(terminal(with(nullptr)) == "run.completed");
  CHECK(only(with("exit_cost"), "run.failed")["problem"]["code"] == "exit_cost");
}

TEST_CASE("trajectory: a history alone gives steps, results go to the call they name", "[play]") {
  const Json calls = {{{"id", "a"}, {"function", {{"name", "find"}, {"arguments", "{\"n\":1}"}}}},
                      {{"id", "b"}, {"function", {{"name", "open"}, {"arguments", "{"}}}}};
  const auto steps =
      play({{"history",
             {{{"role", "system"}, {"content", "be good"}},
              {{"role", "assistant"}, {"content", "demo"}, {"is_demo", true}},
              {{"role", "assistant"}, {"content", "both"}, {"tool_calls", calls}},
              {{"role", "tool"}, {"content", "for b"}, {"tool_call_ids", {"b"}}},
              {{"role", "tool"}, {"content", "for a"}, {"tool_call_ids", {"a"}}},
              {{"role", "assistant"}, {"content", "never answered"}, {"action", "ls"}}}}});
  CHECK(all(steps, "turn.completed").size() == 2);
  const auto done = all(steps, "tool.completed");
  REQUIRE(done.size() == 2);
  CHECK(done[0]["output"] == "for a");
  CHECK(done[1]["output"] == "for b");
  CHECK(all(steps, "tool.input.ended").size() == 3);
  CHECK(all(steps, "tool.input.ended")[1]["invalid"] == "{");
}

TEST_CASE("trajectory: what is no trajectory is a failed run", "[play]") {
  const auto code = [](std::string_view content) {
    return only(played(content, Format::agent_trajectory), "run.failed")["problem"]["code"];
  };
  CHECK(code("{\"trajectory\": [") == "recording_invalid");
  CHECK(code("{\"other\": 1}") == "recording_invalid");
  CHECK(code("[]") == "recording_invalid");
  CHECK(code("{\"history\": []}") == "recording_empty");
  CHECK(code("") == "recording_invalid");
}

}  // namespace runwire::play::test
