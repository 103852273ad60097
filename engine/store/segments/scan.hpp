#pragma once

#include "codec/base/result.hpp"
#include "engine/store/segments/format.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace runwire::segments {

struct ScannedBatch {
  BatchHeader header{};
  std::uint64_t offset = 0;
  [[nodiscard]] std::uint64_t end() const { return offset + header.bytes(); }
};

/// What a segment file holds.
struct Scan {
  SegmentHeader header{};
  std::vector<ScannedBatch> batches{};  ///< Whole ones, one behind the other, from the start.
  std::uint64_t end = segment_header_bytes;
  std::uint64_t proven = segment_header_bytes;  ///< Known to be on stable storage up to here.
  std::uint64_t chain = 0;
  std::uint64_t tail_bytes = 0;  ///< Up to the last byte behind `end` that is not zero.
  Position last{};
  Term term{};
  bool sealed = false;
  [[nodiscard]] bool closed() const {
    return !batches.empty() && batches.back().header.flag == BatchFlag::closed;
  }
};

/// The bytes of a whole file. `cut`: how much of it counts, where the segment after it says so.
/// `corrupt` when a byte is damaged that was proven to be on stable storage: file, offset, and the
/// positions in doubt (first, last) are facts. Damage above that is tail: not an error.
[[nodiscard]] Result<Scan> scan_segment(ByteView file,
                                        std::string_view name,
                                        std::optional<std::uint64_t> cut);

/// The header alone, checked against the name that the file has.
[[nodiscard]] Result<SegmentHeader> read_header(ByteView file, std::string_view name);

/// Each record of a batch with its offset in the body. `corrupt` or `unsupported` stops.
using RecordSink = std::function<void(const RecordView&, std::uint64_t offset)>;
[[nodiscard]] Status for_each_record(const BatchHeader& header,
                                     ByteView body,
                                     const RecordSink& sink);

/// `corrupt: file: ...` with file, offset, first and last position.
[[nodiscard]] std::unexpected<Error> damaged(std::string_view name,
                                             std::uint64_t offset,
                                             Position first,
                                             Position last,
                                             std::string_view what);

}  // namespace runwire::segments
