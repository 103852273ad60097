#include "codec/json/quote.hpp"

#include "codec/json/canonical.hpp"

#include <cstddef>

namespace runwire::json {
namespace {

/// RFC 8785, 3.2.2.2: the two-character escapes where JSON has one, `\u00xx` in lower case for the
/// other control characters, and everything else as it is.
void append_escape(std::string& out, char character) {
  static constexpr std::string_view digits = "0123456789abcdef";
  switch (character) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  const auto code = static_cast<unsigned char>(character);
  out += "\\u00";
  out += digits[code >> 4U];
  out += digits[code & 15U];
}

bool needs_escape(char character) {
  return static_cast<unsigned char>(character) < 0x20 || character == '"' || character == '\\';
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  std::size_t plain = 0;  // Where the run of characters that need no escape began.
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!needs_escape(text[at])) continue;
    out += text.substr(plain, at - plain);
    append_escape(out, text[at]);
    plain = at + 1;
  }
  out += text.substr(plain);
  out += '"';
}

std::string quote(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  append_quoted(out, text);
  return out;
}

}  // namespace runwire::json
