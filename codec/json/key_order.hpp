#pragma once

#include <algorithm>
#include <string_view>

namespace runwire::json {

/// Where a UTF-8 byte stands in the order of UTF-16 code units. Only U+E000..U+FFFF (lead bytes ee
/// and ef) and the characters written with surrogates (lead bytes f0 and up) change places.
[[nodiscard]] constexpr unsigned utf16_rank(char byte) {
  const unsigned value = static_cast<unsigned char>(byte);
  return value == 0xee || value == 0xef ? value + 0x10U : value;
}

/// RFC 8785, 3.2.3: keys are ordered by their UTF-16 code units. Pre: both are valid UTF-8.
[[nodiscard]] constexpr bool utf16_less(std::string_view left, std::string_view right) {
  const auto [in_left, in_right] =
      std::mismatch(left.begin(), left.end(), right.begin(), right.end());
  if (in_right == right.end()) return false;
  if (in_left == left.end()) return true;
  return utf16_rank(*in_left) < utf16_rank(*in_right);
}

}  // namespace runwire::json
