#include "codec/json/string_scan.hpp"

#include "codec/json/canonical.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace runwire::json {
namespace {

/// Where the first sequence that is not UTF-8 begins. Only called where there is one: a binary
/// search over prefixes would trip over cut characters, so it walks character by character.
std::size_t first_bad_byte(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (!valid_utf8(text.substr(at, size)) || at + size > text.size()) return at;
    at += size;
  }
  return at;
}

/// The code unit of the four digits behind `\u`, where there are four.
std::optional<std::uint32_t> code_unit(std::string_view text, std::size_t at) {
  if (at > text.size() || text.size() - at < 4) return std::nullopt;
  std::uint32_t unit = 0;
  const char* const begin = text.data() + at;
  const auto [end, error] = std::from_chars(begin, begin + 4, unit, 16);
  if (error != std::errc{} || end != begin + 4) return std::nullopt;
  return unit;
}

constexpr bool high_surrogate(std::uint32_t unit) {
  return unit >= 0xd800 && unit < 0xdc00;
}
constexpr bool low_surrogate(std::uint32_t unit) {
  return unit >= 0xdc00 && unit < 0xe000;
}

/// The offset behind the escape whose backslash is at `at`.
Result<std::size_t> skip_escape(std::string_view text, std::size_t at) {
  const char kind = at + 1 < text.size() ? text[at + 1] : '\0';
  if (kind != 'u') {
    if (std::string_view("\"\\/bfnrt").find(kind) == std::string_view::npos) {
      return fail(malformed("an escape that JSON does not have", at));
    }
    return at + 2;
  }
  const std::optional<std::uint32_t> unit = code_unit(text, at + 2);
  if (!unit) return fail(malformed("\\u without four hexadecimal digits", at));
  if (low_surrogate(*unit)) return fail(malformed("a lone surrogate", at));
  if (!high_surrogate(*unit)) return at + 6;
  const bool paired =
      text.substr(at + 6, 2) == "\\u" && low_surrogate(code_unit(text, at + 8).value_or(0));
  if (!paired) return fail(malformed("a lone surrogate", at));
  return at + 12;
}

/// The offset behind the string whose first quote is at `begin`.
Result<std::size_t> skip_string(std::string_view text, std::size_t begin) {
  std::size_t at = begin + 1;
  while (at < text.size() && text[at] != '"') {
    if (static_cast<unsigned char>(text[at]) < 0x20) {
      return fail(malformed("a control character in a string", at));
    }
    if (text[at] != '\\') {
      ++at;
      continue;
    }
    auto behind = skip_escape(text, at);
    if (!behind) return behind;
    at = *behind;
  }
  if (at >= text.size()) return fail(malformed("a string without an end", begin));
  return at + 1;
}

}  // namespace

Error malformed(std::string_view why, std::size_t offset) {
  return Error{ErrorCode::invalid, "data: " + std::string(why), {}}.with("offset", offset);
}

Status check_strings(std::string_view text) {
  if (!valid_utf8(text)) return fail(malformed("not UTF-8", first_bad_byte(text)));
  std::size_t at = text.find('"');
  while (at != std::string_view::npos) {
    auto behind = skip_string(text, at);
    if (!behind) return fail(std::move(behind.error()));
    at = text.find('"', *behind);
  }
  return {};
}

}  // namespace runwire::json
