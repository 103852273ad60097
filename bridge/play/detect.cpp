#include "bridge/play/json.hpp"
#include "bridge/play/recording.hpp"
#include "bridge/play/text.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace runwire::play {
namespace {

constexpr std::array<std::pair<std::string_view, Format>, 5> names = {{
    {"anthropic-messages", Format::anthropic_messages},
    {"openai-responses", Format::openai_responses},
    {"openai-chat", Format::openai_chat},
    {"agent-trajectory", Format::agent_trajectory},
    {"runwire-ndjson", Format::runwire_ndjson},
}};

/// What one event tells of its stream.
std::optional<Format> format_of(const Json& event) {
  const Json* trajectory = member(event, "trajectory");
  const Json* history = member(event, "history");
  const bool steps = (trajectory != nullptr && trajectory->is_array()) ||
                     (history != nullptr && history->is_array());
  const Json* choices = member(event, "choices");
  if (choices != nullptr && choices->is_array()) return Format::openai_chat;
  const std::string_view type = text_at(event, "type");
  if (type.starts_with("response.")) return Format::openai_responses;
  if (type.starts_with("message_") || type.starts_with("content_block_")) {
    return Format::anthropic_messages;
  }
  if (type == "error" && member(event, "sequence_number") != nullptr)
    return Format::openai_responses;
  if (type == "error" && member(event, "error") != nullptr) return Format::anthropic_messages;
  if (!type.empty() && member(event, "data") != nullptr) return Format::runwire_ndjson;
  if (steps) return Format::agent_trajectory;
  return std::nullopt;
}

std::string_view payload_of(std::string_view line) {
  if (line.starts_with("data:")) line.remove_prefix(5);
  return line;
}

/// A pretty-printed or cut trajectory has no line that is JSON.
bool looks_like_trajectory(std::string_view content) {
  const std::size_t begin = content.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || content[begin] != '{') return false;
  return content.find("\"trajectory\"") != std::string_view::npos ||
         content.find("\"history\"") != std::string_view::npos;
}

}  // namespace

std::string_view to_string(Format format) {
  for (const auto& [name, value] : names) {
    if (value == format) return name;
  }
  return {};
}

Result<Format> format_from(std::string_view name) {
  std::string known;
  for (const auto& [text, value] : names) {
    if (text == name) return value;
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  return fail(
      Error{ErrorCode::invalid, "no such format; there are: " + known, {}}.with("format", name));
}

Result<Format> detect(std::string_view content) {
  std::string_view rest = content;
  for (std::size_t line = 0; line < Bounds::detect_lines_max && !rest.empty(); ++line) {
    const std::size_t end = rest.find('\n');
    const std::string_view text = payload_of(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (blank(text) || text.size() > Bounds::recording_bytes_max) continue;
    const auto event = parse_json(text);
    if (!event) continue;
    if (const auto format = format_of(*event)) return *format;
  }
  if (looks_like_trajectory(content)) return Format::agent_trajectory;
  return fail(ErrorCode::invalid,
              "cannot tell the recording's format from its first lines; name it");
}

}  // namespace runwire::play
