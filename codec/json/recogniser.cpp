#include "codec/json/recogniser.hpp"

#include "codec/base/limits.hpp"
#include "codec/json/canonical.hpp"
#include "codec/json/key_order.hpp"
#include "codec/json/number.hpp"

#include <cstdint>
#include <cstring>

namespace runwire::json {
namespace {

constexpr std::uint64_t each(std::uint64_t byte) {
  return byte * 0x0101'0101'0101'0101U;
}

/// Non-zero where one of eight bytes may be a quote, a backslash or a control character. A false
/// alarm only costs a look at the single bytes.
std::uint64_t special(std::uint64_t eight) {
  const std::uint64_t quotes = eight ^ each('"');
  const std::uint64_t slashes = eight ^ each('\\');
  const std::uint64_t found = ((quotes - each(1)) & ~quotes) | ((slashes - each(1)) & ~slashes) |
                              ((eight - each(0x20)) & ~eight);
  return found & each(0x80);
}

constexpr bool in_number(char byte) {
  return (byte >= '0' && byte <= '9') || byte == '.' || byte == '-' || byte == '+' || byte == 'e';
}

/// Walks a text that is valid UTF-8 for as long as it is canonical JSON.
class Recogniser {
 public:
  explicit Recogniser(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  bool whole() { return value(0) && at_ == end_; }

 private:
  bool take(char wanted) {
    if (at_ == end_ || *at_ != wanted) return false;
    ++at_;
    return true;
  }

  bool literal(std::string_view wanted) {
    if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(wanted))
      return false;
    at_ += wanted.size();
    return true;
  }

  // Recursion ends at depth_max, which is small.
  bool value(std::size_t depth) {
    if (at_ == end_) return false;
    switch (*at_) {
      case '"':
        ++at_;
        return string();
      case '{':
        ++at_;
        return depth < limits::depth_max && object(depth + 1);
      case '[':
        ++at_;
        return depth < limits::depth_max && array(depth + 1);
      case 't':
        return literal("true");
      case 'f':
        return literal("false");
      case 'n':
        return literal("null");
      default:
        return number();
    }
  }

  bool array(std::size_t depth) {
    if (take(']')) return true;
    do {
      if (!value(depth)) return false;
    } while (take(','));
    return take(']');
  }

  bool object(std::size_t depth) {
    if (take('}')) return true;
    std::string_view last;
    bool first = true;
    do {
      const std::string_view key = plain_key();
      if (key.data() == nullptr || (!first && !utf16_less(last, key))) return false;
      if (!take(':') || !value(depth)) return false;
      last = key;
      first = false;
    } while (take(','));
    return take('}');
  }

  /// The key between its quotes; no data where it is not plain.
  std::string_view plain_key() {
    if (!take('"')) return {};
    const char* const begin = at_;
    skip_plain();
    const char* const end = at_;
    if (!take('"')) return {};
    return {begin, static_cast<std::size_t>(end - begin)};
  }

  void skip_plain() {
    while (end_ - at_ >= 8) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, at_, sizeof eight);
      if (special(eight) != 0) break;
      at_ += 8;
    }
    while (at_ != end_ && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= 0x20)
      ++at_;
  }

  /// The rest of a string, behind its first quote.
  bool string() {
    while (true) {
      skip_plain();
      if (take('"')) return true;
      if (!take('\\') || !escape()) return false;
    }
  }

  bool escape() {
    if (at_ == end_) return false;
    const char kind = *at_++;
    if (kind != 'u') return std::string_view("\"\\bfnrt").find(kind) != std::string_view::npos;
    if (!literal("00") || end_ - at_ < 2) return false;
    const char high = *at_++;
    const char low = *at_++;
    // The control characters that have a short escape are 8, 9, a, c and d.
    if (high == '0') return std::string_view("01234567bef").find(low) != std::string_view::npos;
    return high == '1' && std::string_view("0123456789abcdef").find(low) != std::string_view::npos;
  }

  bool number() {
    const char* const begin = at_;
    while (at_ != end_ && in_number(*at_))
      ++at_;
    return is_canonical_number({begin, static_cast<std::size_t>(at_ - begin)});
  }

  const char* at_;
  const char* end_;
};

}  // namespace

bool seen_to_be_canonical(std::string_view text) {
  return valid_utf8(text) && Recogniser(text).whole();
}

}  // namespace runwire::json
