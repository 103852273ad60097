#include "bridge/play/text.hpp"

#include <algorithm>

namespace runwire::play {
namespace {

constexpr std::string_view white_space = " \t\r\n\v\f";

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

}  // namespace

std::string_view clip(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && continues(text[end]))
    --end;
  return text.substr(0, end);
}

std::string shorten(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  const std::string marker = "\n... (cut, " + std::to_string(text.size()) + " bytes in all)";
  const std::size_t room = bytes_max > marker.size() ? bytes_max - marker.size() : 0;
  return std::string(clip(text, room)) + marker;
}

std::string_view take_words(std::string_view& rest, std::size_t count, std::size_t bytes_max) {
  std::size_t end = 0;
  for (std::size_t word = 0; word < count && end < rest.size(); ++word) {
    end = std::min(rest.find_first_not_of(white_space, end), rest.size());
    end = std::min(rest.find_first_of(white_space, end), rest.size());
    end = std::min(rest.find_first_not_of(white_space, end), rest.size());
  }
  const std::string_view taken = clip(rest.substr(0, end), bytes_max);
  rest.remove_prefix(taken.size());
  return taken;
}

std::size_t escaped_bytes(std::string_view text) {
  std::size_t bytes = text.size();
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20U) bytes += 5;
    if (c == '"' || c == '\\') bytes += 1;
  }
  return bytes;
}

bool blank(std::string_view text) {
  return text.find_first_not_of(white_space) == std::string_view::npos;
}

}  // namespace runwire::play
