#include "bridge/cli/commands.hpp"
#include "bridge/cli/exit_codes.hpp"
#include "bridge/cli/interrupt.hpp"
#include "bridge/cli/output.hpp"
#include "bridge/cli/player.hpp"
#include "bridge/play/recording.hpp"
#include "bus/client/appender.hpp"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace runwire::cli {
namespace {

struct PlayOptions {
  std::vector<std::string> files{};
  std::string speed{"1"};
  bool fast = false;
  bool no_claim = false;
  std::string agent{};
  std::string subject{};
  std::string format{};
};

/// Of a checked option; 0 is without pauses.
double factor_of(const std::string& speed) {
  return speed == "max" ? 0 : std::strtod(speed.c_str(), nullptr);
}

Result<std::string> read_file(const std::string& path) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  if (failed)
    return fail(Error{ErrorCode::not_found, "cannot read the recording", {}}.with("path", path));
  if (size > play::Bounds::recording_bytes_max) {
    return fail(Error{ErrorCode::too_large, "the recording is too large", {}}
                    .with("path", path)
                    .with("limit", play::Bounds::recording_bytes_max));
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  if (!file)
    return fail(Error{ErrorCode::internal, "cannot read the recording", {}}.with("path", path));
  return content.str();
}

/// The file's name in the letters of a subject, and what keeps two plays of one file apart.
std::string subject_of(const std::string& path, IdSource& ids) {
  constexpr std::size_t name_bytes_max = 80;
  std::string name = std::filesystem::path(path).stem().string().substr(0, name_bytes_max);
  for (char& letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '.' && letter != '_' &&
        letter != '-') {
      letter = '-';
    }
  }
  return name + "-" + to_string(ids.instance_id()).substr(0, 8);
}

Status load(Player& player, const PlayOptions& options, const std::string& path, IdSource& ids) {
  auto content = read_file(path);
  if (!content) return fail(std::move(content.error()));
  std::optional<play::Format> format;
  if (!options.format.empty()) {
    auto named = play::format_from(options.format);
    if (!named) return fail(std::move(named.error()));
    format = *named;
  }
  auto steps = play::to_steps(*content, format, {.agent = options.agent});
  if (!steps) return fail(std::move(steps.error()).with("path", path));
  player.add(options.subject.empty() ? subject_of(path, ids) : options.subject, std::move(*steps));
  return {};
}

/// A line a run; the exit code of the first that failed.
int summarise(const Player& player, bool json) {
  int code = exit_ok;
  for (const Playing& run : player.playing()) {
    if (style_of(json) == Style::ndjson) {
      fmt::print(R"({{"subject":{},"events":{},"of":{},"end":{}}})"
                 "\n",
                 json_string(run.subject),
                 run.accepted,
                 run.steps.size(),
                 run.done() && !run.error ? json_string(run.end) : "null");
    } else {
      fmt::print("{}: {} of {} events{}\n",
                 run.subject,
                 run.accepted,
                 run.steps.size(),
                 run.done() && !run.error ? ", " + run.end : ", not ended");
    }
    if (!run.error) continue;
    const int reported = report(*run.error);
    if (code == exit_ok) code = reported;
  }
  std::fflush(stdout);
  return code;
}

int play_files(const PlayOptions& options, const Common& common) {
  auto appender = client::Appender::open({.connect = common.connect()});
  if (!appender) return report(appender.error());
  Player player(**appender, options.fast ? 0 : factor_of(options.speed), !options.no_claim);
  SystemIds ids;
  for (const std::string& path : options.files) {
    if (auto loaded = load(player, options, path, ids); !loaded) return report(loaded.error());
  }
  if (auto played = player.run(interrupted); !played) return report(played.error());
  const int code = summarise(player, common.json);
  return interrupted() ? exit_interrupted : code;
}

}  // namespace

void add_play(CLI::App& app, Common& common) {
  auto options = std::make_shared<PlayOptions>();
  CLI::App* command =
      app.add_subcommand("play", "Play recorded agent runs through the real append path");
  add_client_options(*command, common);
  command->add_option("FILES", options->files, "Recordings: one run each, all at once")->required();
  auto* speed =
      command->add_option("--speed", options->speed, "2 is twice as fast; max is without pauses")
          ->check(CLI::Range(0.001, 100'000.0) | CLI::IsMember({"max"}))
          ->capture_default_str();
  command->add_flag("--fast", options->fast, "The same as --speed max")->excludes(speed);
  command->add_option("--agent", options->agent, "The agent's name in run.started");
  command->add_option(
      "--subject,--run", options->subject, "Instead of the file's name (one file only)");
  command->add_option(
      "--format", options->format, "Instead of finding it out from the first lines");
  command->add_flag("--no-claim", options->no_claim, "Append without claiming the runs");
  command->footer("Example:\n  runwire play examples/recordings/*.ndjson --speed 4");
  command->callback([options, &common] {
    if (!options->subject.empty() && options->files.size() > 1) {
      throw CLI::ValidationError("--subject", "goes with one file only");
    }
    common.chosen = [options, &common] { return play_files(*options, common); };
  });
}

}  // namespace runwire::cli
