#include "engine/store/segments/catalogue_blobs.hpp"

#include "engine/store/segments/varint.hpp"

namespace runwire::segments {

// Offsets are multiples of 8 and grow: each is kept as the distance from the end of the one before.
Bytes encode_places(const std::vector<Place>& places) {
  Bytes bytes;
  std::uint64_t end = 0;
  for (const Place& place : places) {
    put_varint(bytes, (place.offset - end) / alignment);
    put_varint(bytes, place.bytes);
    end = place.offset + padded(place.bytes);
  }
  return bytes;
}

void decode_places(ByteView bytes, std::size_t skip, std::size_t count, std::vector<Place>& into) {
  VarintReader reader(bytes);
  std::uint64_t end = 0;
  for (std::size_t at = 0; !reader.done() && at < skip + count; ++at) {
    const std::uint64_t offset = end + reader.number() * alignment;
    const std::uint64_t size = reader.number();
    if (at >= skip) {
      into.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size)});
    }
    end = offset + padded(size);
  }
}

Bytes encode_marks(const std::vector<Mark>& marks) {
  Bytes bytes;
  Mark before{};
  for (const Mark& mark : marks) {
    put_varint(bytes, mark.offset - before.offset);
    put_varint(bytes, mark.after.value - before.after.value);
    before = mark;
  }
  return bytes;
}

std::vector<Mark> decode_marks(ByteView bytes) {
  std::vector<Mark> marks;
  VarintReader reader(bytes);
  Mark mark{};
  while (!reader.done()) {
    mark.offset += static_cast<std::uint32_t>(reader.number());
    mark.after.value += reader.number();
    marks.push_back(mark);
  }
  return marks;
}

}  // namespace runwire::segments
