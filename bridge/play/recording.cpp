#include "bridge/play/recording.hpp"

#include "bridge/play/adapters.hpp"
#include "bridge/play/lines.hpp"
#include "bridge/play/run_builder.hpp"
#include "codec/json/canonical.hpp"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace runwire::play {
namespace {

std::unique_ptr<StreamAdapter> adapter_of(Format format, RunBuilder& run) {
  switch (format) {
    case Format::anthropic_messages:
      return anthropic_messages(run);
    case Format::openai_responses:
      return openai_responses(run);
    case Format::openai_chat:
      return openai_chat(run);
    default:
      return runwire_ndjson(run);
  }
}

void play_lines(std::string_view content, StreamAdapter& adapter, RunBuilder& run) {
  LineReader lines(content);
  while (!run.ended()) {
    const auto event = lines.next();
    run.at_line(lines.number());
    if (!event) break;
    adapter.take(*event);
  }
  if (run.ended()) return;
  if (lines.broken().empty()) return adapter.end();
  Problem problem{.code = std::string(recording_invalid), .message = std::string(lines.broken())};
  if (adapter.is_model_stream()) return run.abort_stream(std::move(problem));
  run.abort(std::move(problem));
}

Status bounded_text(std::string_view what, std::string_view text, std::size_t bytes_max) {
  if (text.size() > bytes_max) {
    return fail(
        Error{ErrorCode::too_large, std::string(what) + " is too long", {}}.with("max", bytes_max));
  }
  if (!json::valid_utf8(text))
    return fail(ErrorCode::invalid, std::string(what) + " is not valid UTF-8");
  return {};
}

}  // namespace

Status validate(const Options& options) {
  if (Status agent = bounded_text("the agent's name", options.agent, Bounds::name_bytes_max);
      !agent) {
    return agent;
  }
  if (options.labels.size() > Bounds::labels_max) {
    return fail(Error{ErrorCode::too_large, "too many labels", {}}.with("max", Bounds::labels_max));
  }
  for (const auto& [key, value] : options.labels) {
    if (key.empty()) return fail(ErrorCode::invalid, "a label needs a key");
    for (const std::string_view text : {std::string_view(key), std::string_view(value)}) {
      if (Status label = bounded_text("a label", text, Bounds::label_bytes_max); !label)
        return label;
    }
  }
  if (options.steps_max == 0 || options.steps_max > Bounds::steps_max) {
    return fail(
        Error{ErrorCode::invalid, "steps_max is out of range", {}}.with("max", Bounds::steps_max));
  }
  return {};
}

Result<std::vector<Step>> to_steps(std::string_view content,
                                   std::optional<Format> format,
                                   const Options& options) {
  if (Status valid = validate(options); !valid) return fail(std::move(valid).error());
  if (content.size() > Bounds::recording_bytes_max) {
    return fail(Error{ErrorCode::too_large, "the recording is too large", {}}
                    .with("bytes", content.size())
                    .with("max", Bounds::recording_bytes_max));
  }
  if (!format) {
    const auto detected = detect(content);
    if (!detected) return fail(detected.error());
    format = *detected;
  }
  RunBuilder run(options);
  if (*format == Format::agent_trajectory) {
    play_trajectory(content, run);
  } else {
    const auto adapter = adapter_of(*format, run);
    play_lines(content, *adapter, run);
  }
  return std::move(run).finish();
}

}  // namespace runwire::play
