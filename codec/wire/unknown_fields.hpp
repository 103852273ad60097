#pragma once

#include "codec/base/bytes.hpp"
#include "codec/base/result.hpp"

#include <cstddef>

namespace runwire::wire {

/// How many pairs the unknown fields of an event are: msgpack key-value pairs back to back, kept as
/// they came. Keys are texts in shortest form, each once, and none that this version knows; values
/// are anything but extension types.
///
/// Bounds: limits::unknown_bytes_max in all, limits::depth_max with the event's own map as the
/// first level. Errors: `invalid`, `too_large`. Allocates only where there are such fields.
[[nodiscard]] Result<std::size_t> count_unknown_fields(ByteView pairs);

}  // namespace runwire::wire
