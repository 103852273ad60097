#pragma once

#include "codec/base/result.hpp"
#include "engine/store/segments/files.hpp"
#include "engine/store/segments/view.hpp"
#include "engine/store/store.hpp"

#include <string_view>

namespace runwire::segments {

/// Fills one page within its bounds. Owner: one call of one reader.
class PageFiller {
 public:
  PageFiller(PageBounds bounds, const LogId& log) : bounds_(bounds), log_(log) {}

  /// Events of the segment with a position in (after, upto], every one of them.
  Status walk(const LogPiece& piece, const DiskFile& file, Position after, Position upto);
  /// The subject's events at these places, as far as `upto`.
  Status pick(const PlacedRun& run, const DiskFile& file, std::string_view subject, Position upto);

  [[nodiscard]] bool full() const { return page_.more; }
  /// After a failed walk() or pick(): the whole events before the damage are a page of their own,
  /// and the read that begins at the damage says so. False: there are none.
  [[nodiscard]] bool ends_before_damage() {
    page_.more = !page_.empty();
    return page_.more;
  }
  [[nodiscard]] bool ended() const { return ended_; }  ///< pick() met a position above `upto`.
  void reserve(std::uint64_t bytes);
  Page take() { return std::move(page_); }

 private:
  /// False: the page is full.
  bool add(const RecordView& record);
  Status walk_batch(const LogPiece& piece,
                    class Window& window,
                    std::uint64_t start,
                    const BatchHeader& header,
                    Position upto);

  PageBounds bounds_;
  LogId log_;
  Page page_{};
  Position next_{};  ///< walk() expects this event next.
  bool ended_ = false;
};

}  // namespace runwire::segments
