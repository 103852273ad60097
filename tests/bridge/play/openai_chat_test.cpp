#include "bridge/play/recording.hpp"
#include "tests/bridge/play/run_checker.hpp"

namespace runwire::play::test {

namespace {

Json chunk(Json delta, Json finish = nullptr, const char* id = "c-1", int index = 0) {
  return {
      {"id", id},
      {"model", "gpt"},
      {"choices",
       {{{"index", index}, {"delta", std::move(delta)}, {"finish_reason", std::move(finish)}}}}};
}
Json say(const char* text) {
  return chunk({{"content", text}});
}
Json think(const char* text) {
  return chunk({{"reasoning_content", text}});
}
Json call(Json fields, const char* arguments, const char* name = nullptr) {
  fields["function"] = {{"arguments", arguments}};
  if (name != nullptr) fields["function"]["name"] = name;
  return chunk({{"tool_calls", {std::move(fields)}}});
}
Json finish(const char* reason, const char* id = "c-1") {
  return chunk(Json::object(), reason, id);
}

std::vector<Step> play(const std::vector<Json>& events) {
  return played(lines(events), Format::openai_chat);
}
std::string failure(const std::vector<Step>& steps) {
  return only(steps, "run.failed")["problem"]["code"];
}

}  // namespace

TEST_CASE("chat: reasoning and text alternate as contents of their own", "[play]") {
  const auto steps =
      play({think("hm"), think("m"), say("a"), say("b"), think("wait"), say("c"), finish("stop")});
  CHECK(all(steps, "reasoning.ended").size() == 2);
  CHECK(all(steps, "text.ended")[0]["text"] == "ab");
  CHECK(all(steps, "text.ended")[1]["text"] == "c");
  CHECK(only(steps, "model.completed")["finish"] == "stop");
}

TEST_CASE("chat: content as a list of parts, of which thinking is a list again", "[play]") {
  const Json thinking = {{"type", "thinking"}, {"thinking", {{{"type", "text"}, {"text", "2+2"}}}}};
  const auto steps = play({chunk({{"content", {thinking}}}),
                           chunk({{"content", {{{"type", "text"}, {"text", "4"}}}}}),
                           finish("stop")});
  CHECK(only(steps, "reasoning.ended")["text"] == "2+2");
  CHECK(only(steps, "text.ended")["text"] == "4");
}

TEST_CASE("chat: usage after, with or beside the finish: the last number of a field stands",
          "[play]") {
  Json with = finish("stop");
  with["usage"] = {{"prompt_tokens", 1},
                   {"completion_tokens", 1},
                   {"prompt_tokens_details", {{"cached_tokens", 1}}}};
  const Json after = {
      {"id", "c-1"}, {"choices", Json::array()}, {"usage", {{"completion_tokens", 9}}}};
  const auto usage = only(play({say("a"), with, after}), "model.completed")["usage"];
  CHECK(usage == Json{{"input_tokens", 1}, {"output_tokens", 9}, {"cache_read_tokens", 1}});
  CHECK(only(play({say("a"), finish("stop")}), "model.completed")["usage"] == Json::object());
}

TEST_CASE("chat: interleaved calls by index, continued under empty ids", "[play]") {
  const auto steps = play({call({{"index", 0}, {"id", "a"}}, "{\"x\"", "f"),
                           call({{"index", 1}, {"id", "b"}}, "{\"y\"", "g"),
                           call({{"index", 0}, {"id", ""}}, ":1}"),
                           call({{"index", 1}}, ":2}"),
                           finish("tool_calls")});
  const auto inputs = all(steps, "tool.input.ended");
  REQUIRE(inputs.size() == 2);
  for (const Json& input : inputs) {
    CHECK(input["input"] == (input["call_id"] == "a" ? Json{{"x", 1}} : Json{{"y", 2}}));
    CHECK(input["name"] == (input["call_id"] == "a" ? "f" : "g"));
  }
}

TEST_CASE("chat: another id at the same index is another call only with a name", "[play]") {
  const auto two = play({call({{"index", 0}, {"id", "a"}}, "{}", "f"),
                         call({{"index", 0}, {"id", "b"}}, "{}", "f"),
                         finish("tool_calls")});
  CHECK(all(two, "tool.input.ended").size() == 2);
  const auto one = play({call({{"index", 0}, {"id", "a"}}, "{\"x\"", "f"),
                         call({{"index", 0}, {"id", "b"}}, ":1}"),
                         finish("tool_calls")});
  CHECK(only(one, "tool.input.ended")["input"] == Json{{"x", 1}});
  CHECK(only(one, "tool.input.ended")["call_id"] == "a");
}

TEST_CASE("chat: calls without an index go by their place", "[play]") {
  const Json both = {{{"id", "a"}, {"function", {{"name", "f"}, {"arguments", "{}"}}}},
                     {{"id", "b"}, {"function", {{"name", "g"}, {"arguments", "{}"}}}}};
  CHECK(
      all(play({chunk({{"tool_calls", both}}), finish("tool_calls")}), "tool.input.ended").size() ==
      2);
}

TEST_CASE("chat: a finish reason is the end marker", "[play]") {
  CHECK(failure(play({say("a")})) == "stream_incomplete");
  CHECK(terminal(play({say("a"), finish("length")})) == "run.completed");
  CHECK(terminal(played(lines({say("a"), finish("stop")}) + "[DONE]\n", Format::openai_chat)) ==
        "run.completed");
}

TEST_CASE("chat: another completion after the end is another turn", "[play]") {
  const auto steps = play(
      {say("a"), finish("stop"), chunk({{"content", "b"}}, nullptr, "c-2"), finish("stop", "c-2")});
  CHECK(all(steps, "turn.completed").size() == 2);
}

TEST_CASE("chat: several choices are texts side by side", "[play]") {
  const auto steps = play({chunk({{"content", "a"}}),
                           chunk({{"content", "x"}}, nullptr, "c-1", 1),
                           chunk({{"content", "b"}}),
                           finish("stop")});
  std::set<std::string> texts;
  for (const Json& ended : all(steps, "text.ended"))
    texts.insert(ended["text"]);
  CHECK(texts == std::set<std::string>{"ab", "x"});
}

TEST_CASE("chat: errors and refusals", "[play]") {
  const Json error = {{"error", {{"code", "rate_limit_exceeded"}, {"message", "slow down"}}}};
  CHECK(only(play({error}), "model.failed")["position"] == "before_stream");
  const auto steps = play({say("a"), error, say("b")});
  CHECK(only(steps, "model.failed")["position"] == "mid_stream");
  CHECK(failure(steps) == "rate_limit_exceeded");
  CHECK(failure(play({{{"error", "plain"}}})) == "provider_error");
  const auto refused = play({chunk({{"refusal", "no"}}), finish("stop")});
  CHECK(only(refused, "model.completed")["finish"] == "refusal");
  CHECK(only(refused, "text.ended")["text"] == "no");
}

}  // namespace runwire::play::test
