#include "bridge/play/usage.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace runwire::play {
namespace {

struct Field {
  std::string_view group;  ///< The object it lies in; empty: the usage itself.
  std::string_view theirs;
  std::string_view ours;
};

constexpr std::array<Field, 13> fields = {{
    {"", "input_tokens", "input_tokens"},
    {"", "output_tokens", "output_tokens"},
    {"", "prompt_tokens", "input_tokens"},
    {"", "completion_tokens", "output_tokens"},
    {"", "total_tokens", "total_tokens"},
    {"", "cache_read_input_tokens", "cache_read_tokens"},
    {"", "cache_creation_input_tokens", "cache_write_tokens"},
    {"input_tokens_details", "cached_tokens", "cache_read_tokens"},
    {"input_tokens_details", "cache_write_tokens", "cache_write_tokens"},
    {"prompt_tokens_details", "cached_tokens", "cache_read_tokens"},
    {"output_tokens_details", "reasoning_tokens", "reasoning_tokens"},
    {"output_tokens_details", "thinking_tokens", "reasoning_tokens"},
    {"completion_tokens_details", "reasoning_tokens", "reasoning_tokens"},
}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> reasons = {{
    {"end_turn", "stop"},
    {"stop_sequence", "stop"},
    {"tool_use", "tool_calls"},
    {"function_call", "tool_calls"},
    {"max_tokens", "length"},
    {"max_output_tokens", "length"},
    {"model_length", "length"},
    {"model_context_window_exceeded", "length"},
    {"pause_turn", "pause"},
}};

}  // namespace

void Usage::read(const Json* usage) {
  if (usage == nullptr) return;
  for (const Field& field : fields) {
    const Json* group = field.group.empty() ? usage : member(*usage, field.group);
    if (group == nullptr) continue;
    if (const auto count = count_at(*group, field.theirs))
      tokens_[std::string(field.ours)] = *count;
  }
}

Json Usage::to_json() const {
  Json json = Json::object();
  for (const auto& [name, count] : tokens_)
    json[name] = count;
  return json;
}

std::string finish_of(std::string_view provider_reason) {
  for (const auto& [theirs, ours] : reasons) {
    if (theirs == provider_reason) return std::string(ours);
  }
  return std::string(provider_reason);
}

}  // namespace runwire::play
