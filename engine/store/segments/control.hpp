#pragma once

#include "codec/base/bytes.hpp"
#include "engine/store/segments/format.hpp"
#include "engine/store/store.hpp"

#include <optional>
#include <vector>

namespace runwire::segments {

/// What the control records of a log add up to, owners left out (those are the subjects').
struct Checkpoint {
  ControlState state{};
  Position trimmed{};  ///< Events up to here are gone.
};

void apply(const RecordView& record, Checkpoint& checkpoint);

/// For the catalogue. Private to it: when it cannot be decoded, the catalogue is rebuilt.
[[nodiscard]] Bytes encode_checkpoint(const Checkpoint& checkpoint);
[[nodiscard]] std::optional<Checkpoint> decode_checkpoint(ByteView bytes);

}  // namespace runwire::segments
