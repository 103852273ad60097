#include "bridge/play/recording.hpp"
#include "tests/bridge/play/run_checker.hpp"

namespace runwire::play::test {

namespace {

/// A message with one text of these deltas.
std::string message(const std::vector<std::string>& deltas) {
  std::vector<Json> events = {
      {{"type", "message_start"}, {"message", {{"id", "m"}, {"model", "m"}}}},
      {{"type", "content_block_start"}, {"index", 0}, {"content_block", {{"type", "text"}}}}};
  for (const std::string& text : deltas) {
    events.push_back({{"type", "content_block_delta"},
                      {"index", 0},
                      {"delta", {{"type", "text_delta"}, {"text", text}}}});
  }
  events.push_back({{"type", "content_block_stop"}, {"index", 0}});
  events.push_back({{"type", "message_delta"}, {"delta", {{"stop_reason", "end_turn"}}}});
  events.push_back({{"type", "message_stop"}});
  return lines(events);
}

std::vector<Step> play(const std::string& content, const Options& options = {}) {
  return played(content, Format::anthropic_messages, options);
}
std::string failure(const std::vector<Step>& steps) {
  return only(steps, "run.failed")["problem"]["code"];
}

}  // namespace

TEST_CASE("bounds: a run of exactly the most events is whole, of one more fails with room to close",
          "[play]") {
  const std::string content = message({"a", "b", "c"});
  const std::size_t events = play(content).size();
  // Closing events may stand on top of the bound: the last two are turn.completed and
  // run.completed.
  CHECK(terminal(play(content, {.steps_max = events})) == "run.completed");
  const auto cut = play(content, {.steps_max = events - 4});
  CHECK(failure(cut) == "recording_too_large");
  CHECK(only(cut, "text.ended")["text"] == "abc");
  for (std::size_t most = 1; most < events; ++most) {
    CHECK(play(content, {.steps_max = most}).size() <= most + 4);
  }
}

TEST_CASE("bounds: a long delta is split between characters", "[play]") {
  const auto deltas = [](const std::string& text) {
    return all(play(message({text})), "text.delta").size();
  };
  CHECK(deltas(std::string(Bounds::delta_bytes_max, 'x')) == 1);
  CHECK(deltas(std::string(Bounds::delta_bytes_max + 1, 'x')) == 2);
  CHECK(deltas(std::string(Bounds::delta_bytes_max - 1, 'x') + "\xc3\xa9") == 2);
}

TEST_CASE("bounds: a text of exactly the most bytes fits into an event, of one more fails the run",
          "[play]") {
  const std::string half(Bounds::content_bytes_max / 2, 'x');
  const auto fits = play(message({half, half}));
  CHECK(terminal(fits) == "run.completed");
  CHECK(only(fits, "text.ended")["text"].get<std::string>().size() == Bounds::content_bytes_max);
  CHECK(failure(play(message({half, half, "x"}))) == "recording_too_large");
  // It is the size in JSON that counts: a control character takes six bytes there.
  const std::string controls(Bounds::content_bytes_max / 6, '\x01');
  CHECK(terminal(play(message({controls}))) == "run.completed");
  CHECK(failure(play(message({controls, "\x01"}))) == "recording_too_large");
}

TEST_CASE("bounds: too many contents open at once fail the run", "[play]") {
  const auto open = [](std::size_t count) {
    std::vector<Json> events = {
        {{"type", "message_start"}, {"message", {{"id", "m"}, {"model", "m"}}}}};
    for (std::size_t at = 0; at < count; ++at) {
      events.push_back({{"type", "content_block_start"},
                        {"index", at},
                        {"content_block", {{"type", "tool_use"}, {"id", "x"}, {"name", "y"}}}});
    }
    events.push_back({{"type", "message_stop"}});
    return play(lines(events));
  };
  CHECK(terminal(open(Bounds::open_contents_max)) == "run.completed");
  CHECK(failure(open(Bounds::open_contents_max + 1)) == "recording_too_large");
}

TEST_CASE("bounds: a line of exactly the most bytes is read, a longer one is a problem of the run",
          "[play]") {
  const auto padded = [](std::size_t bytes) {
    const std::string start = R"({"type":"message_start","message":{"id":"m","model":"m"},"pad":")";
    return start + std::string(bytes - start.size() - 2, 'p') +
           "\"}\n{\"type\":\"message_stop\"}\n";
  };
  CHECK(terminal(play(padded(Bounds::line_bytes_max))) == "run.completed");
  CHECK(failure(play(padded(Bounds::line_bytes_max + 1))) == "recording_invalid");
}

TEST_CASE("bounds: nesting of exactly the most levels is read, deeper is a problem of the run",
          "[play]") {
  const auto nested = [](std::size_t levels) {
    const std::string deep = std::string(levels - 1, '[') + std::string(levels - 1, ']');
    return "{\"type\":\"ping\",\"x\":" + deep + "}\n" + message({"a"});
  };
  CHECK(terminal(play(nested(64))) == "run.completed");
  CHECK(failure(play(nested(65))) == "recording_invalid");
  CHECK(failure(play(nested(1'000'000))) == "recording_invalid");
}

TEST_CASE(
    "bounds: an input as deep as a line may be is kept, as text where an event cannot hold it",
    "[play]") {
  const auto input = [](std::size_t levels) {
    const std::string deep = std::string(levels, '[') + std::string(levels, ']');
    const std::vector<Json> events = {
        {{"type", "message_start"}, {"message", {{"id", "m"}, {"model", "m"}}}},
        {{"type", "content_block_start"},
         {"index", 0},
         {"content_block", {{"type", "tool_use"}, {"id", "x"}, {"name", "y"}}}},
        {{"type", "content_block_delta"},
         {"index", 0},
         {"delta", {{"type", "input_json_delta"}, {"partial_json", deep}}}},
        {{"type", "message_stop"}}};
    return only(play(lines(events)), "tool.input.ended");
  };
  CHECK(input(63).contains("input"));
  CHECK(input(64).contains("invalid"));
}

TEST_CASE("bounds: a recording over its bound is refused before anything is played", "[play]") {
  std::string content = message({"a"});
  content.resize(Bounds::recording_bytes_max, '\n');
  CHECK(terminal(play(content)) == "run.completed");
  content += '\n';
  const auto refused = to_steps(content, Format::anthropic_messages);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::too_large);
}

TEST_CASE("bounds: options are judged before anything is played", "[play]") {
  const auto code = [](const Options& options) { return validate(options).error().code; };
  CHECK(validate({.agent = std::string(Bounds::name_bytes_max, 'a')}).has_value());
  CHECK(code({.agent = std::string(Bounds::name_bytes_max + 1, 'a')}) == ErrorCode::too_large);
  CHECK(code({.agent = "\xff"}) == ErrorCode::invalid);
  Options many{
      .labels = std::vector<std::pair<std::string, std::string>>(Bounds::labels_max, {"k", "v"})};
  CHECK(validate(many).has_value());
  many.labels.emplace_back("k", "v");
  CHECK(code(many) == ErrorCode::too_large);
  CHECK(validate({.labels = {{"k", std::string(Bounds::label_bytes_max, 'v')}}}).has_value());
  CHECK(code({.labels = {{"k", std::string(Bounds::label_bytes_max + 1, 'v')}}}) ==
        ErrorCode::too_large);
  CHECK(code({.labels = {{"", "v"}}}) == ErrorCode::invalid);
  CHECK(code({.steps_max = 0}) == ErrorCode::invalid);
  CHECK(code({.steps_max = Bounds::steps_max + 1}) == ErrorCode::invalid);
  CHECK(validate({.steps_max = Bounds::steps_max}).has_value());
}

}  // namespace runwire::play::test
