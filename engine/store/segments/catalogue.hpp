#pragma once

#include "codec/base/ids.hpp"
#include "codec/base/result.hpp"
#include "engine/store/segments/control.hpp"
#include "engine/store/segments/index.hpp"
#include "engine/store/store.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runwire::segments {

/// The index of all sealed segments, in SQLite. It is a copy of what the segments say and never
/// newer than they are: throw it away and it is made again.
///
/// Threads: add() from one thread; everything const from any thread (a connection of its own,
/// one reader at a time). Bound: 2 MiB of page cache a connection. Errors: as Database.
class Catalogue {
 public:
  struct Head {
    std::vector<SegmentInfo> segments{};  ///< In order.
    Checkpoint checkpoint{};              ///< As it stood at the end of the last of them.
  };

  /// Empty path: in memory. Anything that cannot be trusted (damage, other version, other log) is
  /// an error, and the caller removes the file and opens again.
  static Result<std::unique_ptr<Catalogue>> open(const std::string& path, const LogId& log);
  /// The files that SQLite makes for `path`.
  static void remove_files(const std::string& path);
  ~Catalogue();

  [[nodiscard]] Result<Head> head() const;

  /// Takes up one more sealed segment, in one transaction.
  Status add(const SegmentIndex& index, const Checkpoint& checkpoint);

  [[nodiscard]] Result<std::optional<SubjectInfo>> find(std::string_view subject) const;
  [[nodiscard]] Result<std::vector<SubjectInfo>> list(std::string_view prefix,
                                                      std::string_view after,
                                                      std::size_t count_max,
                                                      bool open_only) const;
  /// Places of sequences above `after` in segments below `before`, at most `count_max` of them.
  [[nodiscard]] Result<std::vector<PlacedRun>> places(std::string_view subject,
                                                      std::uint64_t after,
                                                      std::uint64_t before,
                                                      std::size_t count_max) const;

 private:
  struct Connection;
  Catalogue();
  LogId log_{};
  std::unique_ptr<Connection> writer_;
  std::unique_ptr<Connection> own_reader_;  ///< None in memory, where one connection serves both.
  Connection* reader_ = nullptr;
};

}  // namespace runwire::segments
