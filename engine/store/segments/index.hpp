#pragma once

#include "engine/store/disk.hpp"
#include "engine/store/segments/format.hpp"
#include "engine/store/store.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace runwire::segments {

/// Where one record stands in its file.
struct Place {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;  ///< Without padding.
};

/// Places of one subject in one segment.
struct PlacedRun {
  std::uint64_t segment = 0;
  std::uint64_t first = 0;  ///< Sequence of places[0].
  std::vector<Place> places{};
};

/// A place to begin walking from: a batch starts at `offset`, and `after` was committed before it.
struct Mark {
  std::uint32_t offset = 0;
  Position after{};
};
inline constexpr std::uint64_t mark_distance_bytes = std::uint64_t{64} << 10;

/// What must be known of a segment to read the log from it.
struct SegmentInfo {
  std::uint64_t number = 0;
  Position base{};
  Position last{};
  std::uint64_t bytes = 0;  ///< Header and committed batches.
  Term term{};              ///< Highest in it.
  std::vector<Mark> marks{};
};

/// The walk for what comes behind `after` begins here.
[[nodiscard]] std::uint64_t walk_start(const std::vector<Mark>& marks, Position after);

struct Owner {
  LogId origin{};
  OwnerTerm term{};
};

/// One subject's part in one segment.
struct Span {
  std::uint64_t first = 0;      ///< Sequence of places[0].
  std::vector<Place> places{};  ///< One for each sequence, without a hole. Empty: an owner alone.
  RunState state = RunState::none;
  bool local = false;
  Position first_position{};
  Position last_position{};
  std::uint64_t time = 0;
  std::optional<Owner> owner{};

  [[nodiscard]] std::uint64_t last() const { return first + places.size() - 1; }
};

/// Lays what a later segment says over what was known before.
void overlay(const Span& span, SubjectInfo& info);

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

/// Everything about the records of one segment that is not in the catalogue yet.
///
/// Owner: the store, which guards it with its view mutex. Bound: the size of one segment.
class SegmentIndex {
 public:
  using Spans = std::unordered_map<std::string, Span, TextHash, std::equal_to<>>;

  SegmentIndex(const SegmentHeader& header, std::shared_ptr<const DiskFile> file);

  /// A batch from `offset` on is about to be indexed; `end` is where it ends.
  void begin_batch(const BatchHeader& header, std::uint64_t offset, std::uint64_t end);
  void add(const RecordView& record, Place place);

  [[nodiscard]] const SegmentInfo& info() const { return info_; }
  [[nodiscard]] const std::shared_ptr<const DiskFile>& file() const { return file_; }
  [[nodiscard]] const Spans& spans() const { return spans_; }
  [[nodiscard]] const Span* find(std::string_view subject) const;
  /// In order; valid until the next add().
  [[nodiscard]] const std::set<std::string_view>& names() const { return names_; }

 private:
  SegmentInfo info_;
  std::shared_ptr<const DiskFile> file_;
  Spans spans_{};
  std::set<std::string_view> names_{};  ///< The keys of spans_, which stay where they are.
};

}  // namespace runwire::segments
