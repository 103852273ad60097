#pragma once

#include "codec/base/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace runwire::segments {

inline void put_varint(Bytes& into, std::uint64_t number) {
  while (number >= 0x80) {
    into.push_back(static_cast<std::byte>(number | 0x80));
    number >>= 7;
  }
  into.push_back(static_cast<std::byte>(number));
}

inline void put_text(Bytes& into, std::string_view text) {
  put_varint(into, text.size());
  into.insert(into.end(), as_bytes(text).begin(), as_bytes(text).end());
}

/// Reads what put_* wrote. After the first thing that does not fit, `good()` is false and all
/// further answers are empty.
class VarintReader {
 public:
  explicit VarintReader(ByteView bytes) : left_(bytes) {}

  std::uint64_t number() {
    std::uint64_t result = 0;
    for (unsigned shift = 0; shift < 64 && !left_.empty(); shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(left_.front());
      left_ = left_.subspan(1);
      result |= (byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return result;
    }
    return spoil();
  }

  std::string_view text() {
    const std::uint64_t size = number();
    if (size > left_.size()) {
      spoil();
      return {};
    }
    const ByteView bytes = left_.first(size);
    left_ = left_.subspan(size);
    return as_text(bytes);
  }

  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool done() const { return left_.empty(); }

 private:
  std::uint64_t spoil() {
    good_ = false;
    left_ = {};
    return 0;
  }

  ByteView left_;
  bool good_ = true;
};

}  // namespace runwire::segments
