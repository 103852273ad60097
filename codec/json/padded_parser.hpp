#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace runwire::json {

/// How far behind a text's end simdjson may read; its sources assert that it is enough.
inline constexpr std::size_t padding_bytes = 64;
/// What a thread keeps between texts: one huge text must not hold its memory for ever.
inline constexpr std::size_t kept_bytes_max = std::size_t{1} << 20;

/// One simdjson parser and its padded copy of the text, one pair a thread: `thread_parser()`.
/// Private to codec's sources, which name the parser, so that no header has to show simdjson. What
/// it returned lives until the next `open` on the same thread. Bound: `kept_bytes_max` between
/// texts.
template <class Parser>
class PaddedParser {
 public:
  /// Copies `before`, `text` and `after` into the padded room and starts to read them as one.
  /// Returns simdjson's error code.
  template <class Document>
  [[nodiscard]] auto open(std::string_view before,
                          std::string_view text,
                          std::string_view after,
                          Document& document) {
    const std::size_t size = before.size() + text.size() + after.size();
    if (room_.capacity() > kept_bytes_max && size < kept_bytes_max / 2) {
      room_ = std::string();
      parser_ = Parser();
    }
    room_.clear();
    room_.reserve(size + padding_bytes);
    room_.append(before).append(text).append(after);
    room_.append(padding_bytes, '\0');
    text_begin_ = room_.data() + before.size();
    return parser_.iterate(room_.data(), size, room_.size()).get(document);
  }

  /// Where `place`, a pointer into the padded copy, lies behind `before`.
  [[nodiscard]] std::size_t offset_of(const char* place) const {
    return place < text_begin_ ? 0 : static_cast<std::size_t>(place - text_begin_);
  }

 private:
  std::string room_{};
  const char* text_begin_ = nullptr;
  Parser parser_{};
};

template <class Parser>
[[nodiscard]] PaddedParser<Parser>& thread_parser() {
  thread_local PaddedParser<Parser> parser;
  return parser;
}

}  // namespace runwire::json
