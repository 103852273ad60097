#pragma once

#include "engine/store/segments/catalogue.hpp"
#include "engine/store/segments/sqlite.hpp"

#include <mutex>
#include <string_view>

namespace runwire::segments {

/// A database and its statements, for one thread at a time.
struct Catalogue::Connection {
  std::mutex mutex{};
  Database database{};
  Statement find{}, list{}, list_open{}, places{};
  Statement add_segment{}, put_subject{}, add_span{}, put_checkpoint{};

  /// Makes the tables where there are none. `corrupt`: not a catalogue of this log.
  Status set_up(const LogId& log);
  Status prepare(std::string_view sql, Statement& into);
  Status add(const SegmentIndex& index, const Checkpoint& checkpoint, const LogId& log);

 private:
  Status prepare_all();
  Result<std::uint64_t> single(std::string_view sql);
  Result<std::uint64_t> put(std::string_view name, const Span& span, const LogId& log);
};

/// From a row of `find`, `list` or `list_open`.
[[nodiscard]] SubjectInfo read_subject_row(const Statement& row);
[[nodiscard]] std::unexpected<Error> distrusted(std::string_view why);

}  // namespace runwire::segments
