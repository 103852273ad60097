#pragma once

#include "codec/base/result.hpp"
#include "engine/store/disk.hpp"
#include "engine/store/segments/batch_builder.hpp"
#include "engine/store/segments/format.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace runwire::segments {

/// Where the next batch of a segment goes and what is proven so far.
struct WriterState {
  std::uint64_t end = segment_header_bytes;
  std::uint64_t batches = 0;
  std::uint64_t chain = 0;
  std::uint64_t synced_bytes = segment_header_bytes;
  Position synced_to{};
  std::uint64_t dirty = 0;  ///< Bytes behind `end` and below this do not count.
  Position last{};
  Term term{};
};

/// A batch that a file is born with. The counts, sizes and proofs in `header` are filled in.
struct FirstBatch {
  BatchHeader header{};
  BatchBuilder records{};
};

/// The one file that grows.
///
/// Owner: the store thread. Lifetime: the Disk outlives it. Bound: `segment_bytes_max`, or one
/// batch where that is longer. Errors: as DiskFile; after a failed sync nothing may be written.
class SegmentWriter {
 public:
  /// Makes the next file under a draft's name, synced with `batches` in it, and gives it its name
  /// when all of that is on stable storage.
  static Result<std::unique_ptr<SegmentWriter>> create(Disk& disk,
                                                       const SegmentHeader& header,
                                                       std::span<FirstBatch> batches,
                                                       std::uint64_t segment_bytes_max);
  SegmentWriter(std::shared_ptr<DiskFile> file,
                const SegmentHeader& header,
                const WriterState& state,
                std::uint64_t segment_bytes_max);

  /// Whether a batch of that size belongs into the next file.
  [[nodiscard]] bool full_for(std::uint64_t bytes) const;
  /// Writes and syncs. Returns where it begins. `store_full` has changed nothing that counts.
  Result<std::uint64_t> write(BatchBuilder& batch, BatchHeader header);
  /// Ends the file with its trailer.
  Status seal();

  [[nodiscard]] const SegmentHeader& header() const { return header_; }
  [[nodiscard]] const WriterState& state() const { return state_; }
  [[nodiscard]] const std::shared_ptr<DiskFile>& file() const { return file_; }

 private:
  Status write_zeros(std::uint64_t from, std::uint64_t upto);
  Status write_ahead(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t key() const;

  std::shared_ptr<DiskFile> file_;
  SegmentHeader header_;
  WriterState state_;
  std::uint64_t segment_bytes_max_;
  std::uint64_t ahead_;      ///< Written before, with zeros or with batches.
  std::uint64_t dirty_ = 0;  ///< A write that failed may have left bytes up to here.
};

}  // namespace runwire::segments
