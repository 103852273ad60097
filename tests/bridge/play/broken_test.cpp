#include "bridge/play/recording.hpp"
#include "tests/bridge/play/recorded_files.hpp"
#include "tests/bridge/play/run_checker.hpp"

#include <array>
#include <random>

namespace runwire::play::test {

namespace {

constexpr std::array<Format, 5> formats = {Format::anthropic_messages,
                                           Format::openai_responses,
                                           Format::openai_chat,
                                           Format::agent_trajectory,
                                           Format::runwire_ndjson};

std::vector<std::filesystem::path> everything() {
  std::vector<std::filesystem::path> files =
      files_in(source_directory() / "examples" / "recordings");
  for (const char* folder : {"provider-streams/anthropic-messages",
                             "provider-streams/openai-responses",
                             "provider-streams/openai-chat",
                             "agent-runs"}) {
    const auto more = files_in(data_directory() / folder);
    files.insert(files.end(), more.begin(), more.end());
  }
  return files;
}

/// A legal run, or a refusal because nothing tells the format.
void check_ends(std::string_view content, std::optional<Format> format) {
  const auto steps = to_steps(content, format);
  if (steps) {
    REQUIRE(RunChecker::first_violation(*steps) == "");
  } else {
    REQUIRE_FALSE(format.has_value());
    REQUIRE(steps.error().code == ErrorCode::invalid);
  }
}

std::uint32_t seed() {
  if (const char* given = std::getenv("RUNWIRE_SEED"))
    return static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10));
  return std::random_device{}();
}

}  // namespace

TEST_CASE("broken: a recording cut anywhere is still a run with one terminal", "[play]") {
  for (const auto& path : everything()) {
    const std::string content = content_of(path);
    for (std::size_t cut = 0; cut < 20; ++cut) {
      const std::size_t bytes = content.size() * cut / 20 + cut % 3;
      INFO(path.filename().string() << " cut at " << bytes);
      check_ends(std::string_view(content).substr(0, bytes), std::nullopt);
    }
  }
}

TEST_CASE("broken: a broken line names itself and keeps what came before", "[play]") {
  const std::string good =
      R"({"type":"message_start","message":{"id":"m","model":"m"}})"
      "\n"
      R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":"so far"}})"
      "\n\n";
  for (const char* bad : {"{",
                          "null",
                          "[]",
                          "17",
                          "{\"a\":\"\xff\"}",
                          "{\"a\":\"\\ud800\"}",
                          "{\"a\":1e999}",
                          "{} {}"}) {
    const auto steps = played(good + bad + "\n" + good, Format::anthropic_messages);
    const Json problem = only(steps, "run.failed")["problem"];
    CHECK(problem["code"] == "recording_invalid");
    CHECK(problem["retryable"] == false);
    CHECK(problem["details"]["line"] == 4);
    CHECK(problem["message"].get<std::string>().starts_with("line 4: "));
    CHECK(only(steps, "model.failed")["position"] == "mid_stream");
    CHECK(only(steps, "text.ended")["text"] == "so far");
  }
}

TEST_CASE("broken: an empty recording of a given format is a failed run", "[play]") {
  for (const Format format : formats) {
    const auto steps = played("", format);
    CHECK(terminal(steps) == "run.failed");
    CHECK(steps.size() == 2);
  }
}

TEST_CASE("broken: random bytes and spoilt recordings never break a rule", "[play]") {
  const std::uint32_t value = seed();
  INFO("RUNWIRE_SEED=" << value);
  std::mt19937 random(value);
  const auto pick = [&](std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random);
  };
  for (const auto& path : everything()) {
    std::string content = content_of(path);
    if (content.size() > 20'000) content.resize(content.rfind('\n', 20'000) + 1);
    for (std::size_t at = 0; at < 1 + pick(8) && !content.empty(); ++at) {
      content[pick(content.size())] = static_cast<char>(pick(256));
    }
    INFO(path.filename().string());
    check_ends(content, std::nullopt);
    check_ends(content, formats[pick(formats.size())]);
  }
  for (int round = 0; round < 200; ++round) {
    std::string noise(pick(400), '\0');
    for (char& byte : noise)
      byte = static_cast<char>(pick(256));
    check_ends(noise, formats[pick(formats.size())]);
  }
}

TEST_CASE("broken: lines in any order, dropped or doubled, never break a rule", "[play]") {
  const std::uint32_t value = seed();
  INFO("RUNWIRE_SEED=" << value);
  std::mt19937 random(value);
  for (const auto& path : everything()) {
    if (path.extension() == ".traj") continue;
    std::vector<std::string> parts;
    std::string content = content_of(path);
    for (std::size_t begin = 0; begin < content.size() && parts.size() < 60;) {
      const std::size_t end = std::min(content.find('\n', begin), content.size());
      parts.push_back(content.substr(begin, end - begin));
      begin = end + 1;
    }
    for (int round = 0; round < 10; ++round) {
      std::string mixed;
      for (const std::string& part : parts) {
        const auto roll = random() % 10;
        if (roll == 0) continue;
        mixed += part + "\n";
        if (roll == 1) mixed += part + "\n";
        if (roll == 2) mixed += parts[random() % parts.size()] + "\n";
      }
      INFO(path.filename().string());
      check_ends(mixed, std::nullopt);
    }
  }
}

}  // namespace runwire::play::test
