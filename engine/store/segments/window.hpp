#pragma once

#include "codec/base/result.hpp"
#include "engine/store/disk.hpp"

#include <cstddef>
#include <cstdint>

namespace runwire::segments {

/// Reads one file through the calling thread's buffer, a stretch at a time: a file mapped into
/// memory would turn an unreadable sector into a signal that ends the process.
///
/// Owner: one thread, and one Window at a time in it. Lifetime: the file outlives it.
class Window {
 public:
  static constexpr std::size_t stretch_bytes = std::size_t{256} << 10;

  /// Nothing is read at or beyond `end`.
  Window(const DiskFile& file, std::uint64_t end) : file_(file), end_(end) {}

  /// Exactly these bytes, valid until the next call. Empty where the file or `end` is nearer.
  /// Reads on beyond them up to `ahead` bytes in all.
  Result<ByteView> at(std::uint64_t offset, std::size_t bytes, std::size_t ahead = stretch_bytes);

 private:
  const DiskFile& file_;
  std::uint64_t end_;
  std::uint64_t start_ = 0;
  std::size_t held_ = 0;
};

}  // namespace runwire::segments
