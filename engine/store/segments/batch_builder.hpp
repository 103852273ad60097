#pragma once

#include "codec/base/bytes.hpp"
#include "engine/store/segments/format.hpp"
#include "engine/store/segments/index.hpp"

#include <cstdint>
#include <vector>

namespace runwire::segments {

/// Makes the bytes of one batch in one buffer, which is kept for the next. Bound: what is added.
class BatchBuilder {
 public:
  BatchBuilder() { clear(); }
  void clear();
  /// `before` is the position of the event before the record.
  void add(const Record& record, Position before);
  /// A whole body as it stood in another file.
  void add_body(std::uint32_t records, ByteView body);

  [[nodiscard]] std::uint64_t size() const { return bytes_.size(); }
  [[nodiscard]] ByteView body() const { return ByteView(bytes_).subspan(batch_header_bytes); }
  /// Relative to the start of the batch; one for each add().
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }

  /// Fills in the header: counts, sizes and checks are its own, the rest is the caller's. Valid
  /// until the next call.
  ByteView finish(BatchHeader header, std::uint64_t key);

 private:
  Bytes bytes_{};
  std::vector<Place> places_{};
  std::uint32_t records_ = 0;
};

/// What stands for a whole segment: each batch's own check, chained from the segment header's on.
/// Every byte is under one of them.
[[nodiscard]] std::uint64_t chain_start(ByteView segment_header);
[[nodiscard]] std::uint64_t chain_next(std::uint64_t chain, ByteView batch_header);

}  // namespace runwire::segments
