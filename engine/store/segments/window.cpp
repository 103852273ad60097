#include "engine/store/segments/window.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace runwire::segments {
namespace {

/// Grows to the largest record that the thread has met and is not cleared first.
struct Buffer {
  std::unique_ptr<std::byte[]> bytes{};
  std::size_t size = 0;
  std::span<std::byte> room(std::size_t wanted) {
    if (wanted > size) {
      bytes = std::make_unique_for_overwrite<std::byte[]>(wanted);
      size = wanted;
    }
    return {bytes.get(), wanted};
  }
};
thread_local Buffer buffer;

}  // namespace

Result<ByteView> Window::at(std::uint64_t offset, std::size_t bytes, std::size_t ahead) {
  if (offset >= start_ && offset + bytes <= start_ + held_) {
    return ByteView(buffer.bytes.get() + (offset - start_), bytes);
  }
  if (offset > end_ || bytes > end_ - offset) return ByteView{};
  const std::size_t wanted = std::min<std::uint64_t>(std::max(bytes, ahead), end_ - offset);
  held_ = 0;
  auto got = file_.read(offset, buffer.room(wanted));
  if (!got) return fail(std::move(got.error()));
  start_ = offset;
  held_ = *got;
  if (held_ < bytes) return ByteView{};
  return ByteView(buffer.bytes.get(), bytes);
}

}  // namespace runwire::segments
