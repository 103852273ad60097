#pragma once

#include "codec/base/result.hpp"
#include "engine/store/segments/catalogue.hpp"
#include "engine/store/segments/files.hpp"
#include "engine/store/segments/view.hpp"
#include "engine/store/store.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runwire::segments {

/// Makes pages out of segments: looks up under the view's lock, reads files outside of it, and
/// checks every record that it hands out.
///
/// Threads: any. Lifetime: what it refers to outlives it. Errors: as Store's reads.
class Reader {
 public:
  Reader(const View& view, const Catalogue& catalogue, SegmentFiles& files, const LogId& log)
      : view_(view), catalogue_(catalogue), files_(files), log_(log) {}

  [[nodiscard]] Result<Page> read_log(Position after, Position upto, PageBounds bounds) const;
  [[nodiscard]] Result<Page> read_subject(std::string_view subject,
                                          Sequence after,
                                          Position upto,
                                          PageBounds bounds) const;
  [[nodiscard]] Result<std::optional<SubjectInfo>> find_subject(std::string_view subject) const;
  [[nodiscard]] Result<std::vector<SubjectInfo>> subjects(std::string_view prefix,
                                                          std::string_view after,
                                                          std::size_t count_max,
                                                          bool open_only) const;

 private:
  [[nodiscard]] Result<std::vector<LiveRun>> runs_of(std::string_view subject,
                                                     std::uint64_t after,
                                                     std::size_t count_max) const;
  /// Of the oldest event that was not trimmed; behind the last where all were.
  [[nodiscard]] Result<PageEntry> first_kept(const SubjectInfo& info) const;
  Status settle_first(SubjectInfo& info) const;
  struct Listed {
    std::vector<SubjectInfo> found{};
    std::string upto{};  ///< All names up to here were looked at.
    bool more = false;
  };
  [[nodiscard]] Result<Listed> list_once(std::string_view prefix,
                                         std::string_view after,
                                         std::size_t count_max,
                                         bool open_only) const;

  const View& view_;
  const Catalogue& catalogue_;
  SegmentFiles& files_;
  LogId log_;
};

}  // namespace runwire::segments
