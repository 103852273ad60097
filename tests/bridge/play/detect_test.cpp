#include "bridge/play/recording.hpp"
#include "tests/bridge/play/run_checker.hpp"

namespace runwire::play::test {

TEST_CASE("detect: each format is told by its first telling line", "[play]") {
  CHECK(detect(R"({"type":"message_start","message":{}})") == Format::anthropic_messages);
  CHECK(detect("{\"type\":\"ping\"}\n{\"type\":\"message_start\"}") == Format::anthropic_messages);
  CHECK(detect(R"({"type":"response.created","response":{}})") == Format::openai_responses);
  CHECK(detect("not json\n{\"type\":\"response.in_progress\"}") == Format::openai_responses);
  CHECK(detect(R"({"type":"error","sequence_number":1,"error":{}})") == Format::openai_responses);
  CHECK(detect(R"({"type":"error","error":{}})") == Format::anthropic_messages);
  CHECK(detect(R"(data: {"choices":[]})") == Format::openai_chat);
  CHECK(detect(R"({"type":"run.started","data":{}})") == Format::runwire_ndjson);
  CHECK(detect(R"({"history":[]})") == Format::agent_trajectory);
  CHECK(detect("{\n  \"trajectory\": [\n    {\"cut") == Format::agent_trajectory);
}

TEST_CASE("detect: what nothing tells is refused, and so is a run of it", "[play]") {
  for (const char* content : {"", "\n\n", "{}", "[]", "hello", "{\"type\":\"x\"}"}) {
    const auto found = detect(content);
    REQUIRE_FALSE(found.has_value());
    CHECK(found.error().code == ErrorCode::invalid);
    CHECK_FALSE(to_steps(content, std::nullopt).has_value());
  }
}

TEST_CASE("detect: a telling line is looked for up to the bound", "[play]") {
  const auto after = [](std::size_t blanks) {
    return detect(std::string(blanks, '\n') + R"({"choices":[]})").has_value();
  };
  CHECK(after(Bounds::detect_lines_max - 1));
  CHECK_FALSE(after(Bounds::detect_lines_max));
}

TEST_CASE("detect: formats have names, and an unknown one is told which there are", "[play]") {
  for (const Format format : {Format::anthropic_messages,
                              Format::openai_responses,
                              Format::openai_chat,
                              Format::agent_trajectory,
                              Format::runwire_ndjson}) {
    CHECK(format_from(to_string(format)) == format);
  }
  const auto unknown = format_from("soap");
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().message.find("openai-chat") != std::string::npos);
}

}  // namespace runwire::play::test
