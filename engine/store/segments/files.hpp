#pragma once

#include "codec/base/result.hpp"
#include "engine/store/disk.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace runwire::segments {

/// Open sealed segments for reading, the last used first.
///
/// Threads: any. Lifetime: the Disk outlives it; a file in use outlives its place here. Bound:
/// `open_max` descriptors beside those in use. Errors: as Disk::open.
class SegmentFiles {
 public:
  static constexpr std::size_t open_max = 64;

  explicit SegmentFiles(Disk& disk) : disk_(disk) {}
  Result<std::shared_ptr<const DiskFile>> get(std::uint64_t number);

 private:
  Disk& disk_;
  std::mutex mutex_{};
  std::list<std::pair<std::uint64_t, std::shared_ptr<const DiskFile>>> files_{};
};

}  // namespace runwire::segments
