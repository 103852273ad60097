#include "bridge/play/recording.hpp"
#include "tests/bridge/play/run_checker.hpp"

namespace runwire::play::test {

namespace {

Json created(const char* id = "resp_1") {
  return {{"type", "response.created"}, {"response", {{"id", id}, {"model", "r-1"}}}};
}
Json completed(Json response = {{"status", "completed"}}) {
  return {{"type", "response.completed"}, {"response", std::move(response)}};
}
Json item(const char* what, int index, Json content) {
  return {{"type", std::string("response.output_item.") + what},
          {"output_index", index},
          {"item", std::move(content)}};
}
Json text_delta(int index, const char* text, const char* item_id = "msg") {
  return {{"type", "response.output_text.delta"},
          {"output_index", index},
          {"content_index", 0},
          {"item_id", item_id},
          {"delta", text}};
}
Json text_done(int index, const char* text) {
  return {{"type", "response.output_text.done"},
          {"output_index", index},
          {"content_index", 0},
          {"text", text}};
}
Json message(const char* text) {
  return {{"type", "message"}, {"content", {{{"type", "output_text"}, {"text", text}}}}};
}
Json function(const char* arguments) {
  return {{"type", "function_call"},
          {"id", "fc"},
          {"call_id", "call_1"},
          {"name", "weather"},
          {"arguments", arguments}};
}
Json arguments_delta(int index, const char* text) {
  return {
      {"type", "response.function_call_arguments.delta"}, {"output_index", index}, {"delta", text}};
}

std::vector<Step> play(const std::vector<Json>& events) {
  return played(lines(events), Format::openai_responses);
}
std::string failure(const std::vector<Step>& steps) {
  return only(steps, "run.failed")["problem"]["code"];
}

}  // namespace

TEST_CASE("responses: a whole value that comes three times ends a text once", "[play]") {
  const auto steps = play({created(),
                           item("added", 0, message("")),
                           text_delta(0, "Hel"),
                           text_delta(0, "lo"),
                           text_done(0, "Hello"),
                           item("done", 0, message("Hello")),
                           completed({{"usage",
                                       {{"input_tokens", 3},
                                        {"output_tokens", 2},
                                        {"output_tokens_details", {{"reasoning_tokens", 1}}}}}})});
  CHECK(only(steps, "text.ended")["text"] == "Hello");
  CHECK(only(steps, "model.completed")["finish"] == "stop");
  CHECK(only(steps, "model.completed")["usage"] ==
        Json{{"input_tokens", 3}, {"output_tokens", 2}, {"reasoning_tokens", 1}});
}

TEST_CASE("responses: a whole value alone comes as one delta, an empty one as nothing", "[play]") {
  const auto steps = play(
      {created(), item("done", 0, message("Hello")), item("done", 1, message("")), completed()});
  CHECK(only(steps, "text.ended")["deltas"] == 1);
  CHECK(only(steps, "text.ended")["text"] == "Hello");
}

TEST_CASE("responses: a whole value may go on where the deltas stopped, not contradict them",
          "[play]") {
  CHECK(only(play({created(), text_delta(0, "Hel"), text_done(0, "Hello"), completed()}),
             "text.ended")["text"] == "Hello");
  CHECK(failure(play({created(), text_delta(0, "Hello"), text_done(0, "Help me"), completed()})) ==
        "stream_invalid");
  CHECK(failure(play({created(), text_delta(0, "Hello"), text_done(0, "Hel"), completed()})) ==
        "stream_invalid");
}

TEST_CASE("responses: ids that rotate do not split an item", "[play]") {
  const auto steps = play({created(),
                           text_delta(0, "a", "id-1"),
                           text_delta(0, "b", "id-2"),
                           text_done(0, "ab"),
                           completed()});
  CHECK(only(steps, "text.ended")["text"] == "ab");
}

TEST_CASE("responses: interleaved items keep their own deltas", "[play]") {
  const auto steps = play(
      {created(),
       item("added", 0, function("")),
       item("added", 1, {{"type", "function_call"}, {"call_id", "call_2"}, {"name", "time"}}),
       arguments_delta(0, "{\"x\""),
       arguments_delta(1, "{}"),
       arguments_delta(0, ":1}"),
       item("done", 1, {{"type", "function_call"}, {"call_id", "call_2"}, {"arguments", "{}"}}),
       item("done", 0, function("{\"x\":1}")),
       completed()});
  const auto inputs = all(steps, "tool.input.ended");
  CHECK(inputs[0]["input"] == Json::object());
  CHECK(inputs[0]["name"] == "time");
  CHECK(inputs[1]["input"] == Json{{"x", 1}});
  CHECK(only(steps, "model.completed")["finish"] == "tool_calls");
}

TEST_CASE("responses: the id that a call started with stands", "[play]") {
  const auto steps = play(
      {created(),
       item("added",
            0,
            {{"type", "tool_search_call"}, {"call_id", "first"}, {"arguments", Json::object()}}),
       item("done",
            0,
            {{"type", "tool_search_call"}, {"call_id", "second"}, {"arguments", {{"goal", "x"}}}}),
       completed()});
  CHECK(only(steps, "tool.input.ended")["call_id"] == "first");
  CHECK(only(steps, "tool.input.ended")["input"]["goal"] == "x");
  CHECK(only(steps, "tool.input.ended")["name"] == "tool_search");
}

TEST_CASE("responses: each kind of call has its input", "[play]") {
  const auto input = [](Json call) {
    return only(play({created(), item("added", 0, call), item("done", 0, call), completed()}),
                "tool.input.ended")["input"];
  };
  CHECK(input({{"type", "custom_tool_call"},
               {"call_id", "c"},
               {"name", "sql"},
               {"input", "SELECT 1"}}) == "SELECT 1");
  CHECK(input({{"type", "code_interpreter_call"},
               {"id", "c"},
               {"code", "1+1"},
               {"outputs", Json::array()}}) == Json{{"code", "1+1"}});
  CHECK(
      input({{"type", "local_shell_call"}, {"call_id", "c"}, {"action", {{"command", {"ls"}}}}}) ==
      Json{{"command", {"ls"}}});
  CHECK(
      input(
          {{"type", "file_search_call"}, {"id", "c"}, {"queries", {"a"}}, {"results", nullptr}}) ==
      Json{{"queries", {"a"}}});
  CHECK(input({{"type", "web_search_call"},
               {"id", "c"},
               {"call_id", ""},
               {"arguments", "{\"q\":1}"}}) == Json{{"q", 1}});
  CHECK(input({{"type", "web_search_call"}, {"id", "c"}, {"action", {{"type", "search"}}}}) ==
        Json{{"type", "search"}});
  CHECK(input({{"type", "shiny_call"}, {"id", "c"}}) == Json::object());
}

TEST_CASE("responses: outputs and errors in call items are tools of the run", "[play]") {
  const Json good = {{"type", "mcp_call"},
                     {"id", "m1"},
                     {"name", "roll"},
                     {"arguments", "{}"},
                     {"output", "9"},
                     {"error", nullptr}};
  const Json bad = {{"type", "mcp_call"},
                    {"id", "m2"},
                    {"name", "roll"},
                    {"arguments", "{}"},
                    {"output", nullptr},
                    {"error", "no dice"}};
  const auto steps = play({created(),
                           item("added", 0, good),
                           item("done", 0, good),
                           item("added", 1, bad),
                           item("done", 1, bad),
                           completed()});
  CHECK(only(steps, "tool.completed")["output"] == "9");
  CHECK(only(steps, "tool.failed")["problem"]["code"] == "tool_error");
  CHECK(only(steps, "tool.failed")["problem"]["message"] == "no dice");
}

TEST_CASE("responses: a shell command that its output follows is no call for the client",
          "[play]") {
  const Json call = {
      {"type", "shell_call"}, {"call_id", "s"}, {"action", {{"commands", {"ls", "pwd"}}}}};
  const auto command = [](int index, const char* text) {
    return Json{{"type", "response.shell_call_command.delta"},
                {"output_index", 0},
                {"command_index", index},
                {"delta", text}};
  };
  const auto steps = play(
      {created(),
       item("added", 0, call),
       command(0, "ls"),
       command(1, "pw"),
       command(1, "d"),
       item("done", 0, call),
       item("done",
            1,
            {{"type", "shell_call_output"}, {"call_id", "s"}, {"output", {{{"stdout", "."}}}}}),
       completed()});
  CHECK(only(steps, "tool.input.ended")["input"]["commands"].size() == 2);
  CHECK(all(steps, "tool.input.delta").size() == 4);
  CHECK(only(steps, "tool.completed")["name"] == "shell");
  CHECK(only(steps, "model.completed")["finish"] == "stop");
}

TEST_CASE("responses: a refusal is text with its own finish", "[play]") {
  const auto steps = play(
      {created(),
       {{"type", "response.refusal.delta"},
        {"output_index", 0},
        {"content_index", 0},
        {"delta", "I will not"}},
       {{"type", "response.refusal.done"},
        {"output_index", 0},
        {"content_index", 0},
        {"refusal", "I will not"}},
       item("done",
            0,
            {{"type", "message"}, {"content", {{{"type", "refusal"}, {"refusal", "I will not"}}}}}),
       completed()});
  CHECK(only(steps, "text.ended")["text"] == "I will not");
  CHECK(only(steps, "model.completed")["finish"] == "refusal");
}

TEST_CASE("responses: an error and the failure that repeats it fail the operation once", "[play]") {
  const Json error = {{"type", "error"},
                      {"error", {{"code", "insufficient_quota"}, {"message", "pay"}}}};
  const Json failed = {{"type", "response.failed"},
                       {"response", {{"error", {{"code", "other"}, {"message", "x"}}}}}};
  const auto steps = play({created(), text_delta(0, "a"), error, failed, text_delta(0, "b")});
  CHECK(only(steps, "model.failed")["problem"]["code"] == "insufficient_quota");
  CHECK(only(steps, "model.failed")["position"] == "mid_stream");
  CHECK(failure(steps) == "insufficient_quota");
  CHECK(failure(play({created(), failed})) == "other");
}

TEST_CASE("responses: an incomplete response completes with the reason", "[play]") {
  const auto finish = [](Json details) {
    return only(play({created(),
                      {{"type", "response.incomplete"},
                       {"response",
                        {{"status", "incomplete"}, {"incomplete_details", std::move(details)}}}}}),
                "model.completed")["finish"];
  };
  CHECK(finish({{"reason", "max_output_tokens"}}) == "length");
  CHECK(finish({{"reason", "content_filter"}}) == "content_filter");
  CHECK(finish(nullptr) == "incomplete");
}

TEST_CASE("responses: a stream without its end, or with output outside of one, fails", "[play]") {
  CHECK(failure(play({created(), text_delta(0, "a")})) == "stream_incomplete");
  CHECK(failure(play({text_delta(0, "a")})) == "stream_invalid");
  CHECK(failure(play({created(), completed(), text_delta(0, "a")})) == "stream_invalid");
  CHECK(failure(play({created(), arguments_delta(0, "{}")})) == "stream_invalid");
  CHECK(failure(play({created(), text_delta(0, "a"), text_done(0, "a"), text_delta(0, "b")})) ==
        "stream_invalid");
}

TEST_CASE("responses: a response created again half-way is another attempt", "[play]") {
  const auto steps =
      play({created("a"), text_delta(0, "x"), created("a"), text_delta(0, "y"), completed()});
  CHECK(only(steps, "model.failed")["problem"]["code"] == "stream_restarted");
  CHECK(only(steps, "model.completed")["operation_id"] == "op-2");
  CHECK(all(play({created("a"), created("a"), completed()}), "model.started").size() == 1);
}

TEST_CASE("responses: a server-sent stream as it came over the wire plays as well", "[play]") {
  std::string wire = ": comment\r\n";
  for (const Json& event : {created(), text_delta(0, "x"), completed()}) {
    wire += "event: " + event["type"].get<std::string>() + "\r\ndata: " + event.dump() + "\r\n\r\n";
  }
  wire += "data: [DONE]\n";
  CHECK(detect(wire) == Format::openai_responses);
  CHECK(only(played(wire, Format::openai_responses), "text.ended")["text"] == "x");
}

}  // namespace runwire::play::test
