#include "engine/store/segments/loaded_file.hpp"

#include "engine/store/segments/format.hpp"

#include <algorithm>
#include <utility>

namespace runwire::segments {

Result<LoadedFile> load_segment(Disk& disk, std::uint64_t number, std::uint64_t bytes_max) {
  LoadedFile loaded{.name = segment_name(number)};
  auto file = disk.open(loaded.name, true);
  if (!file) return fail(std::move(file.error()));
  loaded.file = std::move(*file);
  auto size = loaded.file->size();
  if (!size) return fail(std::move(size.error()));
  const std::uint64_t wanted = std::min(*size, bytes_max);
  loaded.bytes = std::make_unique_for_overwrite<std::byte[]>(wanted);
  auto got = loaded.file->read(0, {loaded.bytes.get(), wanted});
  if (!got) return fail(std::move(got.error()));
  loaded.size = *got;
  return loaded;
}

}  // namespace runwire::segments
