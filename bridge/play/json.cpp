#include "bridge/play/json.hpp"

#include "codec/base/limits.hpp"
#include "codec/base/strong.hpp"

#include <nlohmann/json.hpp>

namespace runwire::play {
namespace {

/// Judged before parsing: copying and printing a parsed value would recurse as deep as it goes.
bool depth_is_bounded(std::string_view text) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > limits::depth_max) return false;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return true;
}

}  // namespace

std::optional<Json> parse_json(std::string_view text) {
  if (!depth_is_bounded(text)) return std::nullopt;
  Json value = Json::parse(text, nullptr, false);
  if (!value.is_structured()) return std::nullopt;
  return value;
}

const Json* member(const Json& value, std::string_view key) {
  if (!value.is_object()) return nullptr;
  const auto found = value.find(key);
  if (found == value.end() || found->is_null()) return nullptr;
  return &*found;
}

std::string_view text_at(const Json& value, std::string_view key) {
  const Json* found = member(value, key);
  if (found == nullptr || !found->is_string()) return {};
  return found->get_ref<const std::string&>();
}

std::optional<std::uint64_t> count_at(const Json& value, std::string_view key) {
  const Json* found = member(value, key);
  if (found == nullptr || !found->is_number_unsigned()) return std::nullopt;
  const auto count = found->get<std::uint64_t>();
  if (count > exact_integer_max) return std::nullopt;
  return count;
}

std::string text_of(const Json* value) {
  if (value == nullptr || value->is_null()) return {};
  return value->is_string() ? value->get<std::string>() : dump(*value);
}

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace runwire::play
