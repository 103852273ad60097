#include "bridge/play/lines.hpp"

#include "bridge/play/recording.hpp"
#include "bridge/play/text.hpp"

#include <array>
#include <nlohmann/json.hpp>

namespace runwire::play {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::array<std::string_view, 4> framing = {"event:", "id:", "retry:", ":"};

bool is_framing(std::string_view line) {
  for (const std::string_view word : framing) {
    if (line.starts_with(word)) return true;
  }
  return line == "[DONE]";
}

std::string_view without_data_prefix(std::string_view line) {
  if (!line.starts_with("data:")) return line;
  line.remove_prefix(5);
  if (line.starts_with(' ')) line.remove_prefix(1);
  return line;
}

}  // namespace

LineReader::LineReader(std::string_view content) : rest_(content) {
  if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
}

std::optional<std::string_view> LineReader::next_payload() {
  while (!rest_.empty()) {
    const std::size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++number_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = without_data_prefix(line);
    if (!blank(line) && !is_framing(line)) return line;
  }
  return std::nullopt;
}

std::optional<Json> LineReader::next() {
  if (!broken_.empty()) return std::nullopt;
  const auto line = next_payload();
  if (!line) return std::nullopt;
  if (line->size() > Bounds::line_bytes_max) {
    broken_ = "is longer than the bound of a line";
    return std::nullopt;
  }
  auto value = parse_json(*line);
  if (value && value->is_object()) return value;
  broken_ = "is not a JSON object";
  return std::nullopt;
}

}  // namespace runwire::play
