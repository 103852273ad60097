#pragma once

#include "codec/base/bytes.hpp"
#include "codec/base/ids.hpp"
#include "codec/base/strong.hpp"
#include "engine/store/store.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

/// The bytes of a segment file, as docs/log-format.md has them: values to bytes and back, no files.
/// Every number is little-endian. A decoder trusts nothing: it answers, or says what is wrong.
namespace runwire::segments {

inline constexpr std::uint16_t format_version = 1;
inline constexpr std::uint16_t oldest_reader = 1;  ///< Version that can still read what we write.
inline constexpr std::size_t segment_header_bytes = 128;
inline constexpr std::size_t batch_header_bytes = 72;
inline constexpr std::size_t record_header_bytes = 40;
inline constexpr std::size_t trailer_bytes = 64;
inline constexpr std::size_t alignment = 8;  ///< Of batches and records; gaps are zeros.

[[nodiscard]] constexpr std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// First bytes of a file. `previous_bytes` is how much of the segment before counts: a writer that
/// copied an unproven tail into this file cut the one before there.
struct SegmentHeader {
  LogId log{};
  std::uint64_t number = 0;  ///< The first segment of a log is 1; no holes behind the oldest kept.
  Term term{};
  Position base{};  ///< Of the last event before this segment.
  std::uint64_t previous_bytes = 0;
  WallMicros created = 0;
};

enum class BatchFlag : std::uint32_t { none = 0, closed = 1 };

/// Before the records of one write. `first` is the position after the last event before it, `last`
/// that of its last event (`first - 1` in a batch of control records alone).
struct BatchHeader {
  std::uint32_t records = 0;
  std::uint32_t body_bytes = 0;  ///< Padding of the last record included.
  BatchFlag flag = BatchFlag::none;
  Position first{};
  Position last{};
  Term term{};
  Position synced_to{};            ///< Known to be on stable storage when this was written.
  std::uint64_t synced_bytes = 0;  ///< The same as a length of this file.
  std::uint64_t body_check = 0;
  [[nodiscard]] std::uint64_t bytes() const { return batch_header_bytes + body_bytes; }
};

/// Last bytes of a sealed file. Nothing follows it.
struct Trailer {
  std::uint64_t batches = 0;
  Position first{};
  Position last{};
  Term term{};              ///< Highest in the file.
  std::uint64_t bytes = 0;  ///< Of everything before the trailer.
  std::uint64_t check = 0;  ///< Of the same bytes.
};

/// One record, borrowed from the bytes that it was read from.
struct RecordView {
  RecordKind kind = RecordKind::event;
  bool local = false;
  RunState state = RunState::none;
  Position position{};
  std::uint64_t number = 0;  ///< Events: the sequence.
  std::uint64_t time = 0;
  std::string_view subject{};
  ByteView bytes{};
  std::size_t length = 0;  ///< Of the record without padding.
};

/// Of batches and trailers: binds them to their log, file and place, so that a block that was moved
/// or copied never passes for what stood there.
[[nodiscard]] std::uint64_t place_key(const LogId& log, std::uint64_t number, std::uint64_t offset);
[[nodiscard]] std::uint64_t checksum(ByteView bytes);

void encode(const SegmentHeader& header, std::byte* into);
/// `corrupt`, or `unsupported` for a file that needs a newer reader.
[[nodiscard]] std::expected<SegmentHeader, ErrorCode> decode_segment_header(ByteView bytes);
/// Of a whole header, unchecked: for the message of a refusal.
[[nodiscard]] std::uint16_t claimed_version(ByteView bytes);

void encode(const BatchHeader& header, std::uint64_t key, std::byte* into);
/// The header alone; `bytes` may be shorter than its body. None: not a batch at this place.
[[nodiscard]] std::optional<BatchHeader> decode_batch_header(ByteView bytes, std::uint64_t key);
[[nodiscard]] bool body_intact(const BatchHeader& header, ByteView body, std::uint64_t key);

void encode(const Trailer& trailer, std::uint64_t key, std::byte* into);
[[nodiscard]] std::optional<Trailer> decode_trailer(ByteView bytes, std::uint64_t key);

/// Appends the record and its padding. `before` is the position for a control record.
void append_record(const Record& record, Position before, Bytes& into);
/// From the start of a record; `bytes` may go on behind it. Checks length, checksum and enums.
[[nodiscard]] std::expected<RecordView, ErrorCode> decode_record(ByteView bytes);
/// The length that the record at the start of `bytes` claims; 0 where it cannot be one.
[[nodiscard]] std::size_t claimed_length(ByteView bytes);
/// The claimed position, unchecked: for stepping over records that nobody asked for.
[[nodiscard]] Position claimed_position(ByteView bytes);
[[nodiscard]] bool claims_event(ByteView bytes);

/// `segments/000000000042.seg`.
[[nodiscard]] std::string segment_name(std::uint64_t number);
/// A file that is being made; never holds anything that counts.
[[nodiscard]] std::string draft_name(std::uint64_t number);
/// Of a name inside the folder; none for drafts and strangers.
[[nodiscard]] std::optional<std::uint64_t> segment_number(std::string_view name);

/// Copies so that a large event does not meet the slow `rep movsb` of some processors.
void append_bytes(Bytes& into, ByteView bytes);

}  // namespace runwire::segments
