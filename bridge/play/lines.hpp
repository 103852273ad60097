#pragma once

#include "bridge/play/json.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace runwire::play {

/// A recording line by line, each line one JSON object. Blank lines are skipped, and so is the
/// framing of server-sent events (`event:`, `id:`, `retry:`, comments, `data: [DONE]`), so that a
/// stream saved as it came over the wire plays as well.
///
/// Owner: one thread. Lifetime: `content` must outlive it. Bound: Bounds::line_bytes_max a line.
/// Errors: a line that is no JSON object within the bounds is `broken()`; the reader stays on it.
class LineReader {
 public:
  explicit LineReader(std::string_view content);

  /// The next event; none at the end or on a broken line.
  [[nodiscard]] std::optional<Json> next();
  /// Why there was none: empty at the end of the recording.
  [[nodiscard]] std::string_view broken() const { return broken_; }
  /// The line of the last answer, from 1.
  [[nodiscard]] std::size_t number() const { return number_; }

 private:
  [[nodiscard]] std::optional<std::string_view> next_payload();

  std::string_view rest_;
  std::string_view broken_{};
  std::size_t number_ = 0;
};

}  // namespace runwire::play
