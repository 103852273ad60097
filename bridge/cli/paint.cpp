#include "bridge/cli/paint.hpp"

#include <cstdlib>
#include <unistd.h>

namespace runwire::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return value == nullptr ? std::string_view{} : value;
}

std::string_view code_of(Paint paint) {
  switch (paint) {
    case Paint::faint:
      return "\x1b[2m";
    case Paint::strong:
      return "\x1b[1m";
    case Paint::good:
      return "\x1b[32m";
    case Paint::bad:
      return "\x1b[31m";
    case Paint::warning:
      return "\x1b[33m";
    case Paint::plain:
      break;
  }
  return {};
}

}  // namespace

bool colours_wanted() {
  static const bool wanted = ::isatty(STDOUT_FILENO) == 1 && environment("NO_COLOR").empty() &&
                             environment("TERM") != "dumb";
  return wanted;
}

std::string painted(Paint paint, std::string_view text) {
  const std::string_view code = code_of(paint);
  if (code.empty() || !colours_wanted()) return std::string(text);
  return std::string(code).append(text).append("\x1b[0m");
}

Paint paint_of(std::string_view type) {
  if (type.ends_with("completed")) return Paint::good;
  if (type.ends_with("failed")) return Paint::bad;
  if (type.ends_with("cancelled")) return Paint::warning;
  return Paint::plain;
}

std::string printable(std::string text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto code = static_cast<unsigned char>(text[at]);
    const bool control = (code < 0x20 && text[at] != '\n' && text[at] != '\t') || code == 0x7F;
    if (control) text[at] = '?';
    // U+0080 to U+009F steer a terminal too; in UTF-8 they are C2 and the code itself.
    const bool second = at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xA0;
    if (code == 0xC2 && second) text.replace(at, 2, "?");
  }
  return text;
}

}  // namespace runwire::cli
