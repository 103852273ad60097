#pragma once

#include "codec/base/ids.hpp"
#include "codec/base/result.hpp"
#include "codec/base/strong.hpp"

#include <string>
#include <string_view>

namespace runwire::cli {

/// An NDJSON file that knows how far it goes: its last whole line carries log and position.
///
/// A line that a crash left half is cut when the file is opened: it was never acked.
/// Owner: one thread, of one process: a second one is refused while the first lives.
/// Errors: `locked`, `invalid` (the file is something else), `internal` (a system call).
class JournalFile {
 public:
  static constexpr std::size_t line_bytes_max = std::size_t{8} << 20;

  static Result<JournalFile> open(const std::string& path);
  ~JournalFile();
  JournalFile(JournalFile&& other) noexcept;
  JournalFile& operator=(JournalFile&&) = delete;
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;

  /// Writes whole lines and syncs them; on an error nothing may be acked.
  Status append(std::string_view lines);

  [[nodiscard]] LogId log() const { return log_; }  ///< All zero in an empty file.
  [[nodiscard]] Position position() const { return position_; }

 private:
  explicit JournalFile(int file) : file_(file) {}
  Status find_end();

  int file_;
  LogId log_{};
  Position position_{};
};

}  // namespace runwire::cli
