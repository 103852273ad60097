#pragma once

#include "codec/base/result.hpp"
#include "engine/store/disk.hpp"
#include "engine/store/segments/control.hpp"
#include "engine/store/segments/format.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runwire::segments {

/// What the folder of a log holds.
struct SegmentList {
  std::vector<std::uint64_t> numbers{};  ///< In order, without a hole. Empty: a new log.
  std::vector<std::string> drafts{};     ///< Files that never counted.
};

/// Makes the folder when it is missing. `corrupt` names the file where one between two is missing.
[[nodiscard]] Result<SegmentList> list_segments(Disk& disk);

/// `corrupt` unless what came before `first` was trimmed: a trim record is proven before the file
/// goes, so that a log without one begins with its first segment.
[[nodiscard]] Status check_start(const SegmentHeader& first, const Checkpoint& checkpoint);

}  // namespace runwire::segments
