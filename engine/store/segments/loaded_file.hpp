#pragma once

#include "codec/base/result.hpp"
#include "engine/store/disk.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace runwire::segments {

/// A segment file read whole, for recovery. Bound: 4 GiB, above which no segment grows.
struct LoadedFile {
  std::string name{};
  std::shared_ptr<DiskFile> file{};
  std::unique_ptr<std::byte[]> bytes{};
  std::size_t size = 0;
  [[nodiscard]] ByteView view() const { return {bytes.get(), size}; }
};

/// At most `bytes_max` from the front.
[[nodiscard]] Result<LoadedFile> load_segment(Disk& disk,
                                              std::uint64_t number,
                                              std::uint64_t bytes_max = std::uint64_t{4} << 30);

}  // namespace runwire::segments
