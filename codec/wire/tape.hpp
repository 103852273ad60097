#pragma once

#include "codec/base/bytes.hpp"
#include "codec/base/limits.hpp"
#include "codec/base/result.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace runwire::wire {

/// One value of a header, flat: a list or map is followed by its items, and `end` is behind them.
struct Token {
  enum class Kind : std::uint8_t {
    nil,
    boolean,
    number,
    negative,
    floating,
    text,
    binary,
    list,
    map
  };
  Kind kind = Kind::nil;
  std::uint32_t size = 0;      ///< Bytes of a text or binary, items of a list, pairs of a map.
  std::uint32_t end = 0;       ///< The index behind this value.
  std::uint64_t number = 0;    ///< number, boolean.
  const char* data = nullptr;  ///< text, binary: inside the frame.
};

/// The values of one header, written by a msgpack visitor into one reused vector: no object tree,
/// no recursion, and nothing allocated for a length that is only declared.
///
/// Owner: one thread. Lifetime: the frame must outlive what was read from it. Bounds: depth_max,
/// tokens_max, message_bytes_max. Errors: `invalid` (truncated, trailing bytes, extension types,
/// keys that are no text or come twice, text that is not UTF-8), `too_large` (bounds).
class Tape {
 public:
  /// Exactly one value, a map. The earlier content is forgotten, its memory kept.
  Status read(ByteView frame);

  [[nodiscard]] const Token& at(std::size_t index) const { return tokens_[index]; }
  [[nodiscard]] std::string_view text(std::size_t index) const {
    return {tokens_[index].data, tokens_[index].size};
  }

 private:
  friend class TapeVisitor;
  [[nodiscard]] Status check_keys();
  [[nodiscard]] bool keys_repeat(std::size_t map);

  std::vector<Token> tokens_{};
  std::vector<std::string_view> keys_{};  ///< Scratch for the check of one map.
};

/// This thread's tape: decoders use it in turn, never two at once.
[[nodiscard]] Tape& thread_tape();

}  // namespace runwire::wire
