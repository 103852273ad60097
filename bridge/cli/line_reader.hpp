#pragma once

#include "codec/base/limits.hpp"
#include "codec/base/result.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace runwire::cli {

/// The lines of a file or a pipe, as they come; a signal ends the wait for one.
///
/// Owner: one thread; the descriptor stays the caller's and must outlive it. Bound:
/// `line_bytes_max`. Errors: `too_large` (a line), `internal` (a system call).
class LineReader {
 public:
  /// An event's data may be written with an escape for each byte, and has its envelope around it.
  static constexpr std::size_t line_bytes_max = limits::event_bytes_max * 6;

  explicit LineReader(int file) : file_(file) {}

  /// The next line without its end; nothing at the end of the input or after a signal. A last line
  /// without an end is a line.
  Result<std::optional<std::string>> next();
  /// More has arrived: a whole line, or something that may become one.
  [[nodiscard]] bool ready() const;
  [[nodiscard]] std::size_t number() const { return number_; }  ///< Of the last line; the first: 1.

 private:
  std::optional<std::string> take(std::size_t length);
  Status fill();

  int file_;
  std::string buffer_{};
  std::size_t begin_ = 0;    ///< Of the line that is not taken yet.
  std::size_t scanned_ = 0;  ///< No line end before this.
  std::size_t number_ = 0;
  bool end_ = false;
};

}  // namespace runwire::cli
