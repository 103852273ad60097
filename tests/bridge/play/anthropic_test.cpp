#include "bridge/play/recording.hpp"
#include "tests/bridge/play/run_checker.hpp"

namespace runwire::play::test {

namespace {

Json start(const char* id = "msg_1") {
  return {{"type", "message_start"},
          {"message",
           {{"id", id}, {"model", "m-1"}, {"usage", {{"input_tokens", 7}, {"output_tokens", 1}}}}}};
}
Json block(int index, Json content) {
  return {{"type", "content_block_start"}, {"index", index}, {"content_block", std::move(content)}};
}
Json text_block(int index) {
  return block(index, {{"type", "text"}, {"text", ""}});
}
Json tool_block(int index, const char* id, const char* name = "look") {
  return block(index,
               {{"type", "tool_use"}, {"id", id}, {"name", name}, {"input", Json::object()}});
}
Json delta(int index, const char* kind, const char* field, const std::string& text) {
  return {{"type", "content_block_delta"},
          {"index", index},
          {"delta", {{"type", kind}, {field, text}}}};
}
Json say(int index, const std::string& text) {
  return delta(index, "text_delta", "text", text);
}
Json argue(int index, const std::string& text) {
  return delta(index, "input_json_delta", "partial_json", text);
}
Json stop(int index) {
  return {{"type", "content_block_stop"}, {"index", index}};
}
Json reason(const char* why, int output_tokens = 5) {
  return {{"type", "message_delta"},
          {"delta", {{"stop_reason", why}}},
          {"usage", {{"output_tokens", output_tokens}}}};
}
Json message_stop() {
  return {{"type", "message_stop"}};
}

std::vector<Step> play(const std::vector<Json>& events) {
  return played(lines(events), Format::anthropic_messages);
}

std::string failure(const std::vector<Step>& steps) {
  return only(steps, "run.failed")["problem"]["code"];
}

}  // namespace

TEST_CASE("anthropic: a message becomes one operation with text, usage and a reason", "[play]") {
  const auto steps = play({start(),
                           text_block(0),
                           say(0, "Hel"),
                           say(0, "lo"),
                           stop(0),
                           reason("end_turn"),
                           message_stop()});
  CHECK(terminal(steps) == "run.completed");
  CHECK(only(steps, "model.started")["model"] == "m-1");
  CHECK(only(steps, "text.ended")["text"] == "Hello");
  CHECK(only(steps, "text.ended")["text_id"] == "op-1.text-1");
  CHECK(only(steps, "model.completed")["finish"] == "stop");
  // The last number of each field stands.
  CHECK(only(steps, "model.completed")["usage"] == Json{{"input_tokens", 7}, {"output_tokens", 5}});
}

TEST_CASE("anthropic: interleaved blocks keep their own deltas", "[play]") {
  const auto steps = play({start(),
                           tool_block(0, "a"),
                           tool_block(1, "b"),
                           argue(0, "{\"x\""),
                           argue(1, "{\"y\":2"),
                           argue(0, ":1}"),
                           argue(1, "}"),
                           stop(1),
                           stop(0),
                           reason("tool_use"),
                           message_stop()});
  const auto inputs = all(steps, "tool.input.ended");
  REQUIRE(inputs.size() == 2);
  CHECK(inputs[0]["input"] == Json{{"y", 2}});
  CHECK(inputs[1]["input"] == Json{{"x", 1}});
  CHECK(all(steps, "tool.started").empty());
  CHECK(only(steps, "model.completed")["finish"] == "tool_calls");
}

TEST_CASE("anthropic: empty arguments are an empty object and whole ones come as one delta",
          "[play]") {
  const auto steps =
      play({start(),
            tool_block(0, "a"),
            argue(0, ""),
            stop(0),
            block(1, {{"type", "tool_use"}, {"id", "b"}, {"name", "look"}, {"input", {{"x", 1}}}}),
            stop(1),
            reason("tool_use"),
            message_stop()});
  const auto inputs = all(steps, "tool.input.ended");
  CHECK(inputs[0]["input"] == Json::object());
  CHECK(inputs[0]["deltas"] == 0);
  CHECK(inputs[1]["input"] == Json{{"x", 1}});
  CHECK(inputs[1]["deltas"] == 1);
}

TEST_CASE("anthropic: arguments that canonical JSON refuses are kept as raw text", "[play]") {
  for (const char* raw :
       {"{\"x\":", "not json", "{\"a\":1,\"a\":2}", "{\"n\":9007199254740993}", "[1],[2]"}) {
    const auto steps = play(
        {start(), tool_block(0, "a"), argue(0, raw), stop(0), reason("tool_use"), message_stop()});
    CHECK(only(steps, "tool.input.ended")["invalid"] == raw);
    CHECK(terminal(steps) == "run.completed");
  }
}

TEST_CASE("anthropic: a call id that comes again, is too long or is missing is made unique",
          "[play]") {
  const std::string long_id(129, 'x');
  const auto steps = play({start(),
                           tool_block(0, "same"),
                           stop(0),
                           tool_block(1, "same"),
                           stop(1),
                           tool_block(2, long_id.c_str()),
                           stop(2),
                           tool_block(3, ""),
                           stop(3),
                           tool_block(4, std::string(128, 'y').c_str()),
                           stop(4),
                           reason("tool_use"),
                           message_stop()});
  const auto inputs = all(steps, "tool.input.ended");
  REQUIRE(inputs.size() == 5);
  CHECK(inputs[0]["call_id"] == "same");
  CHECK(inputs[1]["call_id"] == "same-2");
  CHECK(inputs[2]["call_id"].get<std::string>().size() < 128);
  CHECK(inputs[3]["call_id"] == "op-1.call-4");
  CHECK(inputs[4]["call_id"] == std::string(128, 'y'));
}

TEST_CASE("anthropic: each further message is a turn of its own", "[play]") {
  const auto steps = play({start("a"),
                           text_block(0),
                           say(0, "1"),
                           stop(0),
                           reason("end_turn"),
                           message_stop(),
                           start("b"),
                           text_block(0),
                           say(0, "2"),
                           stop(0),
                           reason("end_turn"),
                           message_stop()});
  CHECK(all(steps, "turn.completed").size() == 2);
  CHECK(all(steps, "model.started")[1]["operation_id"] == "op-2");
  CHECK(all(steps, "model.started")[1]["attempt"] == 1);
}

TEST_CASE("anthropic: a start again before anything streamed is ignored only with the same id",
          "[play]") {
  const std::vector<Json> rest = {
      text_block(0), say(0, "x"), stop(0), reason("end_turn"), message_stop()};
  auto same = std::vector<Json>{start("a"), start("a")};
  auto other = std::vector<Json>{start("a"), start("b")};
  same.insert(same.end(), rest.begin(), rest.end());
  other.insert(other.end(), rest.begin(), rest.end());
  CHECK(all(play(same), "model.started").size() == 1);
  const auto steps = play(other);
  CHECK(only(steps, "model.failed")["position"] == "before_stream");
  CHECK(only(steps, "model.failed")["problem"]["retryable"] == true);
  CHECK(terminal(steps) == "run.completed");
}

TEST_CASE("anthropic: an error inside a stream fails the operation where it was", "[play]") {
  const Json error = {{"type", "error"},
                      {"error", {{"type", "overloaded_error"}, {"message", "busy"}}}};
  const auto early = play({start(), error});
  CHECK(only(early, "model.failed")["position"] == "before_stream");
  const auto steps = play({start(), text_block(0), say(0, "so fa"), error, say(0, "lost")});
  CHECK(only(steps, "model.failed")["position"] == "mid_stream");
  CHECK(only(steps, "model.failed")["problem"]["code"] == "overloaded_error");
  CHECK(only(steps, "model.failed")["problem"]["message"].get<std::string>().ends_with("busy"));
  CHECK(only(steps, "model.failed")["problem"]["retryable"] == true);
  CHECK(only(steps, "text.ended")["text"] == "so fa");
  CHECK(failure(steps) == "overloaded_error");
  // A new start is the next attempt, and the run goes on.
  const auto again = play({start("a"),
                           error,
                           start("b"),
                           text_block(0),
                           say(0, "ok"),
                           stop(0),
                           reason("end_turn"),
                           message_stop()});
  CHECK(all(again, "model.started")[1]["attempt"] == 2);
  CHECK(terminal(again) == "run.completed");
}

TEST_CASE("anthropic: an error before or after any message still ends the run", "[play]") {
  const Json error = {{"type", "error"}, {"error", {{"message", "no"}}}};
  CHECK(failure(play({error})) == "provider_error");
  CHECK(failure(play({start(), reason("end_turn"), message_stop(), error})) == "provider_error");
}

TEST_CASE("anthropic: a stream without its end marker is incomplete", "[play]") {
  CHECK(only(play({start()}), "model.failed")["position"] == "before_stream");
  const auto steps = play({start(), text_block(0), say(0, "x"), stop(0), reason("end_turn")});
  CHECK(failure(steps) == "stream_incomplete");
  CHECK(only(steps, "model.failed")["position"] == "mid_stream");
}

TEST_CASE("anthropic: content that contradicts what came before fails the run there", "[play]") {
  CHECK(failure(play({text_block(0)})) == "stream_invalid");
  CHECK(failure(play({start(), say(0, "x")})) == "stream_invalid");
  CHECK(failure(play({start(), stop(0)})) == "stream_invalid");
  CHECK(failure(play({start(), text_block(0), text_block(0)})) == "stream_invalid");
  CHECK(failure(play({start(), text_block(0), argue(0, "{}")})) == "stream_invalid");
  CHECK(failure(play({start(), text_block(0), say(0, "x"), stop(0), say(0, "y")})) ==
        "stream_invalid");
  CHECK(failure(play({start(), reason("end_turn"), message_stop(), text_block(0)})) ==
        "stream_invalid");
  CHECK(failure(play({{{"type", "message_start"}}})) == "stream_invalid");
}

TEST_CASE("anthropic: what is unknown is skipped", "[play]") {
  const auto steps = play({start(),
                           {{"type", "ping"}},
                           {{"type", "shiny_new_event"}},
                           block(0, {{"type", "shiny_block"}}),
                           delta(0, "shiny_delta", "x", "y"),
                           stop(0),
                           text_block(1),
                           delta(1, "citations_delta", "c", "d"),
                           say(1, "x"),
                           stop(1),
                           reason("shiny_reason"),
                           message_stop()});
  CHECK(terminal(steps) == "run.completed");
  CHECK(only(steps, "text.ended")["text"] == "x");
  CHECK(only(steps, "model.completed")["finish"] == "shiny_reason");
}

TEST_CASE("anthropic: a result in the stream runs its call, once", "[play]") {
  const Json result = {{"type", "bash_code_execution_tool_result"},
                       {"tool_use_id", "a"},
                       {"content", {{"stdout", "34"}}}};
  const Json error = {
      {"type", "web_fetch_tool_result"},
      {"tool_use_id", "b"},
      {"content", {{"type", "web_fetch_tool_result_error"}, {"error_code", "url_not_found"}}}};
  const auto steps = play({start(),
                           tool_block(0, "a"),
                           stop(0),
                           block(1, result),
                           stop(1),
                           block(2, result),
                           stop(2),
                           tool_block(3, "b", "fetch"),
                           stop(3),
                           block(4, error),
                           stop(4),
                           reason("end_turn"),
                           message_stop()});
  CHECK(only(steps, "tool.completed")["output"] == Json{{"stdout", "34"}});
  CHECK(only(steps, "tool.completed")["name"] == "look");
  CHECK(only(steps, "tool.failed")["problem"]["code"] == "url_not_found");
  CHECK(only(steps, "tool.failed")["name"] == "fetch");
}

TEST_CASE("anthropic: a result without its call is a tool by the name of its type", "[play]") {
  const Json result = {
      {"type", "web_search_tool_result"}, {"tool_use_id", "gone"}, {"content", Json::array()}};
  const auto steps = play({start(), block(0, result), stop(0), reason("end_turn"), message_stop()});
  CHECK(only(steps, "tool.started")["name"] == "web_search");
  CHECK(only(steps, "tool.started")["call_id"] == "gone");
}

}  // namespace runwire::play::test
