#pragma once

#include "codec/base/limits.hpp"
#include "codec/base/result.hpp"
#include "codec/event/event.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Recorded input as the events of one run (bridge/play/README.md says what becomes of what).
///
/// Threads: any; no state is shared. Lifetime: results own their bytes. Bounds: `Bounds`,
/// `Options`. Errors: only what leaves no run to play (a bound of the whole, an unknown format, bad
/// options); whatever is wrong inside a recording is a typed problem in a run that still ends.
namespace runwire::play {

enum class Format : std::uint8_t {
  anthropic_messages,  ///< One event of the Messages API a line.
  openai_responses,    ///< One event of the Responses API a line.
  openai_chat,         ///< One chunk of the Chat Completions API a line.
  agent_trajectory,    ///< One JSON object with `trajectory` or `history`.
  runwire_ndjson,      ///< Our own: `{type, data, after_ms?, ephemeral?}` a line.
};

struct Bounds {
  static constexpr std::size_t recording_bytes_max = std::size_t{32} << 20;
  static constexpr std::size_t line_bytes_max = std::size_t{4} << 20;
  static constexpr std::size_t steps_max = std::size_t{1}
                                           << 18;  ///< Closing events have room on top.
  static constexpr std::size_t delta_bytes_max = std::size_t{128}
                                                 << 10;  ///< Longer ones are split.
  static constexpr std::size_t content_bytes_max = std::size_t{960} << 10;  ///< As a JSON string.
  static constexpr std::size_t open_contents_max = 256;                     ///< Of one operation.
  static constexpr std::size_t output_bytes_max = std::size_t{64} << 10;  ///< Longer ones are cut.
  static constexpr std::size_t progress_bytes_max = 1024;  ///< One tool.progress message.
  static constexpr std::size_t progress_events_max = 8;    ///< Of one tool call.
  static constexpr std::size_t problem_bytes_max = 4096;   ///< Of a problem's message.
  static constexpr std::size_t name_bytes_max = 128;       ///< Model, tool, agent, finish.
  static constexpr std::size_t labels_max = 32;
  static constexpr std::size_t label_bytes_max = 256;  ///< Of a key, and of a value.
  static constexpr std::size_t detect_lines_max = 64;
  static constexpr std::chrono::milliseconds after_max{60'000};  ///< Longer pauses are cut.
};
// A full value and what stands around it must fit into one event.
static_assert(Bounds::content_bytes_max + 4096 < limits::data_bytes_max);
static_assert(Bounds::delta_bytes_max * 6 + 4096 < limits::data_bytes_max);  // \u0000 for a byte

/// One event of the run, and how long to wait before it at speed 1. The draft has no id and no
/// location: both are the appender's to give.
struct Step {
  Draft draft{};
  std::chrono::microseconds after{};
};

struct Options {
  std::string agent{};  ///< Of `run.started`; empty: none, or what the recording says.
  std::vector<std::pair<std::string, std::string>> labels{};
  std::size_t steps_max = Bounds::steps_max;
};
[[nodiscard]] Status validate(const Options& options);

[[nodiscard]] std::string_view to_string(Format format);
/// `invalid` names the formats that exist.
[[nodiscard]] Result<Format> format_from(std::string_view name);
/// Judges by the first lines that are JSON. `invalid` when nothing tells.
[[nodiscard]] Result<Format> detect(std::string_view content);

/// The whole run: `run.started` first, exactly one terminal of the run last, every scope closed
/// before its parent. The format is detected where none is given.
[[nodiscard]] Result<std::vector<Step>> to_steps(std::string_view content,
                                                 std::optional<Format> format,
                                                 const Options& options = {});

}  // namespace runwire::play
