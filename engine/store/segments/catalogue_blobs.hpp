#pragma once

#include "codec/base/bytes.hpp"
#include "engine/store/segments/index.hpp"

#include <cstddef>
#include <vector>

/// The catalogue's two packed columns, as docs/log-format.md has them. Private to the catalogue.
namespace runwire::segments {

[[nodiscard]] Bytes encode_places(const std::vector<Place>& places);
/// Appends at most `count` places behind the first `skip`. Stops at the first that cannot be read.
void decode_places(ByteView bytes, std::size_t skip, std::size_t count, std::vector<Place>& into);

[[nodiscard]] Bytes encode_marks(const std::vector<Mark>& marks);
[[nodiscard]] std::vector<Mark> decode_marks(ByteView bytes);

}  // namespace runwire::segments
