#pragma once

#include "engine/store/segments/scan.hpp"
#include "engine/store/segments/writer.hpp"

#include <cstdint>

namespace runwire::segments {

/// Of a scanned file as of a length that ends a batch, with all of it proven.
[[nodiscard]] WriterState state_at(const Scan& scan, ByteView file, std::uint64_t length);

}  // namespace runwire::segments
