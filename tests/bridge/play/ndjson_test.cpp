#include "bridge/play/recording.hpp"
#include "tests/bridge/play/run_checker.hpp"

namespace runwire::play::test {

namespace {

Json line(const char* type, Json data = Json::object(), int after_ms = 0) {
  return {{"type", type}, {"data", std::move(data)}, {"after_ms", after_ms}};
}
const Json begin = line("run.started");
const Json turn = line("turn.started", {{"turn", 1}});
const Json model =
    line("model.started", {{"turn", 1}, {"operation_id", "o"}, {"model", "m"}, {"attempt", 1}});
const Json text = line("text.started", {{"operation_id", "o"}, {"text_id", "t"}});
Json delta(int index, const std::string& said) {
  return line("text.delta", {{"text_id", "t"}, {"index", index}, {"delta", said}});
}
Json ended(const std::string& full, int deltas) {
  return line("text.ended",
              {{"operation_id", "o"}, {"text_id", "t"}, {"text", full}, {"deltas", deltas}});
}

std::vector<Step> play(const std::vector<Json>& events, const Options& options = {}) {
  return played(lines(events), Format::runwire_ndjson, options);
}
std::string failure(const std::vector<Step>& steps) {
  return only(steps, "run.failed")["problem"]["code"];
}

}  // namespace

TEST_CASE("ndjson: events come as they are, with their pauses", "[play]") {
  const auto steps = play(
      {begin, line("acme.cache.hit", {{"k", 1}}, 7), line("run.completed", Json::object(), 70000)});
  REQUIRE(steps.size() == 3);
  CHECK(steps[1].draft.type == "acme.cache.hit");
  CHECK(steps[1].after == std::chrono::milliseconds(7));
  CHECK(steps[2].after == Bounds::after_max);
}

TEST_CASE("ndjson: an event of the user's own may be ephemeral, a reserved one is what it is",
          "[play]") {
  Json own = line("acme.pulse");
  own["ephemeral"] = true;
  CHECK_FALSE(play({begin, own, line("run.completed")})[1].draft.durable);
  Json wrong = turn;
  wrong["ephemeral"] = true;
  CHECK(failure(play({begin, wrong})) == "recording_invalid");
}

TEST_CASE("ndjson: options name the agent and add labels", "[play]") {
  const Options options{.agent = "me", .labels = {{"a", "1"}}};
  const auto data = only(play({line("run.started", {{"agent", "other"}, {"labels", {{"b", "2"}}}}),
                               line("run.completed")},
                              options),
                         "run.started");
  CHECK(data["agent"] == "me");
  CHECK(data["labels"] == Json{{"a", "1"}, {"b", "2"}});
}

TEST_CASE("ndjson: a line that breaks a rule ends the run and is named", "[play]") {
  const auto line_of = [](const std::vector<Json>& events) {
    const Json problem = only(play(events), "run.failed")["problem"];
    CHECK(problem["code"] == "recording_invalid");
    return problem["details"]["line"].get<int>();
  };
  CHECK(line_of({turn}) == 1);
  CHECK(line_of({line("acme.hit"), begin}) == 1);
  CHECK(line_of({begin, begin}) == 2);
  CHECK(line_of({begin, turn, turn}) == 3);
  CHECK(line_of({begin, model}) == 2);
  CHECK(line_of({begin, turn, line("turn.started", {{"turn", "one"}})}) == 3);
  CHECK(line_of({begin, line("run.paused")}) == 2);
  CHECK(line_of({begin, line("Not A Type")}) == 2);
  CHECK(line_of({begin, line("observer.skipped")}) == 2);
  CHECK(line_of({begin, line("turn.started", Json::array())}) == 2);
  CHECK(line_of({begin, turn, line("run.completed")}) == 3);
  CHECK(line_of({begin, turn, model, text, delta(1, "x")}) == 5);
  CHECK(line_of({begin, turn, model, text, delta(0, "x"), ended("y", 1)}) == 6);
  CHECK(line_of({begin, turn, model, text, delta(0, "x"), ended("x", 2)}) == 6);
  CHECK(line_of({begin, turn, model, text, delta(0, "x"), ended("x", 1), delta(1, "x")}) == 7);
  CHECK(line_of({begin, line("acme.hit", {{"n", 9007199254740993}})}) == 2);
}

TEST_CASE("ndjson: failing or cancelling a scope closes what lies in it first", "[play]") {
  const Json tool = line("tool.started", {{"turn", 1}, {"call_id", "c"}, {"name", "n"}});
  const auto cancelled = play(
      {begin, turn, model, text, delta(0, "x"), tool, line("run.cancelled", {{"reason", "user"}})});
  CHECK(only(cancelled, "text.ended")["text"] == "x");
  CHECK(only(cancelled, "tool.cancelled")["reason"] == "parent_cancelled");
  CHECK(only(cancelled, "turn.cancelled")["reason"] == "parent_cancelled");
  CHECK(terminal(cancelled) == "run.cancelled");
  const Json problem = {{"code", "x"}, {"message", "y"}, {"retryable", false}};
  const auto failed = play({begin,
                            turn,
                            model,
                            tool,
                            line("turn.failed", {{"turn", 1}, {"problem", problem}}),
                            line("run.completed")});
  CHECK(only(failed, "tool.failed")["outcome"] == "uncertain");
  CHECK(only(failed, "model.failed")["position"] == "before_stream");
}

TEST_CASE("ndjson: an ended input is a value and need not count its deltas", "[play]") {
  const Json input =
      line("tool.input.started", {{"operation_id", "o"}, {"call_id", "c"}, {"name", "n"}});
  const Json piece = line("tool.input.delta", {{"call_id", "c"}, {"index", 0}, {"delta", "{}"}});
  const Json whole = {
      {"operation_id", "o"}, {"call_id", "c"}, {"name", "n"}, {"input", Json::object()}};
  const Json done = line("model.completed",
                         {{"operation_id", "o"}, {"finish", "stop"}, {"usage", Json::object()}});
  const Json over = line("turn.completed", {{"turn", 1}});
  const auto steps = play({begin,
                           turn,
                           model,
                           input,
                           piece,
                           line("tool.input.ended", whole),
                           done,
                           over,
                           line("run.completed")});
  CHECK(terminal(steps) == "run.completed");
  Json other = whole;
  other["operation_id"] = "p";
  CHECK(failure(play({begin, turn, model, input, piece, line("tool.input.ended", other)})) ==
        "recording_invalid");
}

TEST_CASE("ndjson: an ended thought holds its text under the key that a text has", "[play]") {
  const Json started = line("reasoning.started", {{"operation_id", "o"}, {"reasoning_id", "r"}});
  const Json piece =
      line("reasoning.delta", {{"reasoning_id", "r"}, {"index", 0}, {"delta", "hm"}});
  const auto end = [&](const char* key) {
    return line("reasoning.ended",
                {{"operation_id", "o"}, {"reasoning_id", "r"}, {key, "hm"}, {"deltas", 1}});
  };
  const Json cancel = line("run.cancelled", {{"reason", "user"}});
  CHECK(terminal(play({begin, turn, model, started, piece, end("text"), cancel})) ==
        "run.cancelled");
  CHECK(failure(play({begin, turn, model, started, piece, end("reasoning"), cancel})) ==
        "recording_invalid");
}

TEST_CASE("ndjson: a recording without a terminal is incomplete, what follows one is not read",
          "[play]") {
  CHECK(failure(play({begin, turn})) == "stream_incomplete");
  CHECK(play({begin, line("run.completed"), turn}).size() == 2);
}

}  // namespace runwire::play::test
