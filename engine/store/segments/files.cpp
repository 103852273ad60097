#include "engine/store/segments/files.hpp"

#include "engine/store/segments/format.hpp"

#include <algorithm>

namespace runwire::segments {

Result<std::shared_ptr<const DiskFile>> SegmentFiles::get(std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  const auto found =
      std::ranges::find(files_, number, [](const auto& entry) { return entry.first; });
  if (found != files_.end()) {
    files_.splice(files_.begin(), files_, found);
    return found->second;
  }
  auto file = disk_.open(segment_name(number), false);
  if (!file && file.error().code == ErrorCode::not_found) {
    return fail(Error{ErrorCode::corrupt, segment_name(number) + ": the file is gone", {}}.with(
        "file", segment_name(number)));
  }
  if (!file) return fail(std::move(file.error()));
  if (files_.size() >= open_max) files_.pop_back();
  files_.emplace_front(number, std::move(*file));
  return files_.front().second;
}

}  // namespace runwire::segments
