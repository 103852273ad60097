#pragma once

#include <string_view>

#include <simdjson.h>

namespace runwire::json {

/// One simdjson parser and its padded copy of the text, one pair a thread: `thread_parser()`.
/// Private to codec's sources (it shows simdjson's types). What it returned lives until the next
/// `open` on the same thread. Bound: keeps no more than `kept_bytes_max` between texts.
class PaddedParser {
 public:
  /// Copies `before`, `text` and `after` into the padded room and starts to read them as one.
  [[nodiscard]] simdjson::error_code open(std::string_view before,
                                          std::string_view text,
                                          std::string_view after,
                                          simdjson::ondemand::document& document);

  /// Where `place`, a pointer into the padded copy, lies behind `before`.
  [[nodiscard]] std::size_t offset_of(const char* place) const {
    return place < text_begin_ ? 0 : static_cast<std::size_t>(place - text_begin_);
  }

 private:
  std::string room_{};
  const char* text_begin_ = nullptr;
  simdjson::ondemand::parser parser_{};
};

[[nodiscard]] PaddedParser& thread_parser();

}  // namespace runwire::json
