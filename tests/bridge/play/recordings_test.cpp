#include "bridge/play/recording.hpp"
#include "tests/bridge/play/recorded_files.hpp"
#include "tests/bridge/play/run_checker.hpp"

#include <sstream>

namespace runwire::play::test {

namespace {

/// What the raw lines say, by the smallest reader that can: all text, all reasoning, in order of
/// arrival. It shares nothing with the adapters.
struct Said {
  std::string text{};
  std::string reasoning{};
  std::string part{};  ///< The deltas of the text part that is open.
};

std::string string_at(const Json& value, const char* key) {
  if (!value.is_object() || !value.contains(key) || !value[key].is_string()) return {};
  return value[key];
}

void read_anthropic(const Json& event, Said& said) {
  if (event.value("type", "") != "content_block_delta") return;
  said.text += string_at(event["delta"], "text");
  said.reasoning += string_at(event["delta"], "thinking");
}

void read_responses(const Json& event, Said& said) {
  const std::string type = event.value("type", "");
  if (type == "response.output_text.delta") {
    said.text += string_at(event, "delta");
    said.part += string_at(event, "delta");
  }
  if (type == "response.output_text.done") {
    // The whole value goes on where the deltas stopped: some recordings keep only their first few.
    const std::string whole = string_at(event, "text");
    if (whole.starts_with(said.part)) said.text += whole.substr(said.part.size());
    said.part.clear();
  }
  if (type == "response.reasoning_summary_text.delta" || type == "response.reasoning_text.delta") {
    said.reasoning += string_at(event, "delta");
  }
}

void read_parts(const Json& parts, Said& said) {
  for (const Json& part : parts) {
    said.text += string_at(part, "text");
    if (part.contains("thinking")) said.reasoning += string_at(part["thinking"][0], "text");
  }
}

void read_chat(const Json& chunk, Said& said) {
  for (const Json& choice : chunk["choices"]) {
    const Json& delta = choice["delta"];
    said.text += string_at(delta, "content");
    said.reasoning += string_at(delta, "reasoning_content") + string_at(delta, "reasoning");
    if (delta.contains("content") && delta["content"].is_array())
      read_parts(delta["content"], said);
  }
}

/// Up to the first broken line, as the run ends there.
Said oracle(const std::string& content, Format format) {
  Said said;
  std::istringstream stream(content);
  for (std::string line; std::getline(stream, line);) {
    const Json event = Json::parse(line, nullptr, false);
    if (event.is_discarded()) break;
    if (format == Format::anthropic_messages) read_anthropic(event, said);
    if (format == Format::openai_responses) read_responses(event, said);
    if (format == Format::openai_chat) read_chat(event, said);
  }
  return said;
}

/// Contents that overlap would make the order of ends another than that of the deltas; the recorded
/// ones do not overlap, so their ends in order are all that was said.
Said played_text(const std::vector<Step>& steps) {
  Said said;
  for (const Json& ended : all(steps, "text.ended"))
    said.text += ended["text"].get<std::string>();
  for (const Json& ended : all(steps, "reasoning.ended")) {
    said.reasoning += ended["text"].get<std::string>();
  }
  return said;
}

void check_folder(const char* folder, Format format, std::size_t failing) {
  std::size_t failed = 0;
  for (const auto& path : files_in(data_directory() / "provider-streams" / folder)) {
    INFO(path.filename().string());
    const std::string content = content_of(path);
    CHECK(detect(content) == format);
    const auto steps = played(content, format);
    const Said expected = oracle(content, format);
    const Said said = played_text(steps);
    CHECK(said.text == expected.text);
    CHECK(said.reasoning == expected.reasoning);
    CHECK(all(steps, "tool.started").size() ==
          all(steps, "tool.completed").size() + all(steps, "tool.failed").size());
    failed += terminal(steps) == "run.failed" ? 1U : 0U;
  }
  if (std::filesystem::exists(data_directory())) CHECK(failed == failing);
}

std::vector<Step> file_played(const char* name, Format format) {
  const auto path = data_directory() / "provider-streams" / name;
  INFO(name);
  return played(content_of(path), format);
}

bool no_data() {
  if (std::filesystem::exists(data_directory())) return false;
  WARN("skipped: there are no recordings in " << data_directory().string());
  return true;
}

}  // namespace

TEST_CASE("play: every Anthropic recording is a legal run that says what its lines say", "[play]") {
  check_folder("anthropic-messages", Format::anthropic_messages, 0);
}

TEST_CASE("play: every Responses recording is a legal run that says what its lines say", "[play]") {
  check_folder("openai-responses", Format::openai_responses, 2);  // A quota error, a broken line.
}

TEST_CASE("play: every Chat recording is a legal run that says what its lines say", "[play]") {
  check_folder("openai-chat", Format::openai_chat, 0);
}

TEST_CASE("play: every agent trajectory is a legal run with a turn for each step", "[play]") {
  for (const auto& path : files_in(data_directory() / "agent-runs")) {
    INFO(path.filename().string());
    const std::string content = content_of(path);
    CHECK(detect(content) == Format::agent_trajectory);
    const auto steps = played(content, Format::agent_trajectory);
    const Json recording = Json::parse(content);
    CHECK(terminal(steps) == "run.completed");
    std::size_t turns = 0;
    if (recording.contains("trajectory")) {
      turns = recording["trajectory"].size();
    } else {
      for (const Json& message : recording["history"])
        turns += message["role"] == "assistant" ? 1U : 0U;
    }
    CHECK(all(steps, "turn.completed").size() == turns);
    std::string thoughts;
    for (const Json& step : recording.value("trajectory", Json::array())) {
      thoughts += step["thought"].get<std::string>();
    }
    if (!thoughts.empty()) CHECK(played_text(steps).text == thoughts);
  }
}

TEST_CASE("play: a trajectory's observations are the outputs of its tools", "[play]") {
  if (no_data()) return;
  const std::string content = content_of(data_directory() / "agent-runs" / "rock-3286.traj");
  const auto steps = played(content, Format::agent_trajectory);
  const Json recording = Json::parse(content);
  const auto outputs = all(steps, "tool.completed");
  REQUIRE(outputs.size() == recording["trajectory"].size());
  for (std::size_t at = 0; at < outputs.size(); ++at) {
    CHECK(outputs[at]["output"] == recording["trajectory"][at]["observation"]);
    CHECK(all(steps, "tool.input.ended")[at]["input"]["command"] ==
          recording["trajectory"][at]["action"]);
  }
}

TEST_CASE("play: usage of a trajectory adds up to what was recorded", "[play]") {
  if (no_data()) return;
  const auto content =
      content_of(data_directory() / "agent-runs" / "swe-agent__test-repo-i1-c802.traj");
  std::uint64_t sent = 0;
  for (const Json& done : all(played(content, Format::agent_trajectory), "model.completed")) {
    sent += done["usage"].value("input_tokens", std::uint64_t{0});
  }
  CHECK(sent == 52861);
}

TEST_CASE("play: the recorded oddities have their documented outcomes", "[play]") {
  if (no_data()) return;
  const auto duplicate =
      file_played("anthropic-messages/duplicate-message-start.jsonl", Format::anthropic_messages);
  CHECK(all(duplicate, "model.started").size() == 1);
  CHECK(only(duplicate, "text.ended")["text"] == "Hello, World!");
  CHECK(only(duplicate, "model.completed")["usage"] ==
        Json{{"input_tokens", 17}, {"output_tokens", 227}});

  const auto spliced =
      file_played("anthropic-messages/spliced-message-start.jsonl", Format::anthropic_messages);
  CHECK(only(spliced, "model.failed")["problem"]["code"] == "stream_restarted");
  CHECK(only(spliced, "model.failed")["position"] == "mid_stream");
  CHECK(all(spliced, "model.started")[1]["attempt"] == 2);
  CHECK(all(spliced, "turn.started").size() == 1);
  CHECK(all(spliced, "tool.input.ended")[0]["invalid"] == "{\"value\":\"Spark");
  CHECK(all(spliced, "tool.input.ended")[1]["input"]["value"] == "Sparkle Day");

  const auto refusal =
      file_played("anthropic-messages/anthropic-refusal.jsonl", Format::anthropic_messages);
  CHECK(only(refusal, "model.completed")["finish"] == "refusal");
  CHECK(terminal(refusal) == "run.completed");

  const auto quota = file_played("openai-responses/openai-error.1.jsonl", Format::openai_responses);
  CHECK(only(quota, "model.failed")["problem"]["code"] == "insufficient_quota");
  CHECK(only(quota, "model.failed")["position"] == "before_stream");
  CHECK(only(quota, "run.failed")["problem"]["code"] == "insufficient_quota");

  const auto broken =
      file_played("openai-responses/parallel-tool-call-wrapper.1.jsonl", Format::openai_responses);
  CHECK(only(broken, "run.failed")["problem"]["code"] == "recording_invalid");
  CHECK(only(broken, "run.failed")["problem"]["details"]["line"] == 1);
  CHECK(only(broken, "model.failed")["position"] == "before_stream");

  const auto rotating =
      file_played("openai-responses/github-copilot-id-rotation.1.jsonl", Format::openai_responses);
  CHECK(all(rotating, "text.ended").size() == 1);
  CHECK(all(rotating, "reasoning.ended").size() == 1);

  const auto empty = file_played("openai-chat/groq-tool-call.jsonl", Format::openai_chat);
  CHECK(only(empty, "tool.input.ended")["input"] == Json::object());
}

TEST_CASE("play: results inside a provider's stream are tools of the run", "[play]") {
  if (no_data()) return;
  const auto shell =
      file_played("openai-responses/openai-shell-skills.1.jsonl", Format::openai_responses);
  CHECK(all(shell, "tool.completed").size() == 2);
  CHECK(all(shell, "tool.input.ended")[0]["input"]["commands"].size() == 1);
  CHECK(only(shell, "model.completed")["finish"] == "stop");

  const auto later = file_played("anthropic-messages/anthropic-tool-search-deferred-regex.jsonl",
                                 Format::anthropic_messages);
  CHECK(only(later, "tool.completed")["call_id"] == "srvtoolu_01H4HgrFsi9xizPtvnx1Tm7D");
  CHECK(only(later, "tool.started")["turn"] == 2);

  const auto asked =
      file_played("openai-responses/openai-mcp-tool-approval.1.jsonl", Format::openai_responses);
  CHECK(only(asked, "interaction.started")["kind"] == "approval");
  CHECK(only(asked, "interaction.cancelled")["reason"] == "recording_ended");
  CHECK(terminal(asked) == "run.completed");
}

TEST_CASE("play: our own recordings are legal runs with each kind of end", "[play]") {
  std::map<std::string, int> ends;
  for (const auto& path : files_in(source_directory() / "examples" / "recordings")) {
    INFO(path.filename().string());
    const std::string content = content_of(path);
    CHECK(detect(content) == Format::runwire_ndjson);
    const auto steps = played(content, Format::runwire_ndjson);
    CHECK(all(steps, "text.delta").size() >= 30);
    // One event a line: nothing had to be added to close the run.
    CHECK(steps.size() == static_cast<std::size_t>(std::ranges::count(content, '\n')));
    ++ends[terminal(steps)];
  }
  CHECK(ends["run.completed"] >= 2);
  CHECK(ends["run.failed"] >= 1);
  CHECK(ends["run.cancelled"] >= 1);
}

}  // namespace runwire::play::test
