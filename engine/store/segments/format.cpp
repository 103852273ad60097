#include "engine/store/segments/format.hpp"

#include "codec/base/limits.hpp"
#include "engine/store/segments/little_endian.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace runwire::segments {
namespace {

constexpr std::string_view segment_magic{"RUNWIRE\n", 8};
constexpr std::uint32_t batch_magic = 0x31425752;    // "RWB1"
constexpr std::uint32_t trailer_magic = 0x31545752;  // "RWT1"
constexpr std::uint32_t record_bytes_max = limits::event_bytes_max + 4096;
constexpr std::string_view folder = "segments/";
constexpr std::size_t digits = 12;

std::string numbered(std::uint64_t number, std::string_view end) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%012llu", static_cast<unsigned long long>(number));
  return std::string(folder) + text.data() + std::string(end);
}

}  // namespace

std::uint64_t checksum(ByteView bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t place_key(const LogId& log, std::uint64_t number, std::uint64_t offset) {
  std::array<std::byte, 32> place{};
  std::ranges::copy(log.bytes, place.begin());
  store_number(place.data() + 16, number);
  store_number(place.data() + 24, offset);
  return checksum(place);
}

void encode(const SegmentHeader& header, std::byte* into) {
  std::fill_n(into, segment_header_bytes, std::byte{0});
  std::ranges::copy(as_bytes(segment_magic), into);
  store_number(into + 8, format_version);
  store_number(into + 10, oldest_reader);
  store_number(into + 12, static_cast<std::uint32_t>(segment_header_bytes));
  std::ranges::copy(header.log.bytes, into + 16);
  store_number(into + 32, header.number);
  store_number(into + 40, header.term.value);
  store_number(into + 48, header.base.value);
  store_number(into + 56, header.previous_bytes);
  store_number(into + 64, header.created);
  store_number(into + 120, checksum({into, 120}));
}

std::expected<SegmentHeader, ErrorCode> decode_segment_header(ByteView bytes) {
  const auto corrupt = std::unexpected(ErrorCode::corrupt);
  if (bytes.size() < segment_header_bytes) return corrupt;
  const std::byte* from = bytes.data();
  if (as_text(bytes.first(8)) != segment_magic) return corrupt;
  if (load_number<std::uint64_t>(from + 120) != checksum(bytes.first(120))) return corrupt;
  if (claimed_version(bytes) == 0) return corrupt;
  if (load_number<std::uint16_t>(from + 10) > format_version) {
    return std::unexpected(ErrorCode::unsupported);
  }
  if (load_number<std::uint32_t>(from + 12) != segment_header_bytes) return corrupt;
  SegmentHeader header{.number = load_number<std::uint64_t>(from + 32),
                       .term = {load_number<std::uint64_t>(from + 40)},
                       .base = {load_number<std::uint64_t>(from + 48)},
                       .previous_bytes = load_number<std::uint64_t>(from + 56),
                       .created = load_number<std::uint64_t>(from + 64)};
  std::ranges::copy(bytes.subspan(16, 16), header.log.bytes.begin());
  return header;
}

std::uint16_t claimed_version(ByteView bytes) {
  return load_number<std::uint16_t>(bytes.data() + 8);
}

void encode(const BatchHeader& header, std::uint64_t key, std::byte* into) {
  store_number(into, batch_magic);
  store_number(into + 4, header.records);
  store_number(into + 8, header.body_bytes);
  store_number(into + 12, static_cast<std::uint32_t>(header.flag));
  store_number(into + 16, header.first.value);
  store_number(into + 24, header.last.value);
  store_number(into + 32, header.term.value);
  store_number(into + 40, header.synced_to.value);
  store_number(into + 48, header.synced_bytes);
  store_number(into + 56, header.body_check);
  store_number(into + 64, checksum({into, 64}) ^ key);
}

std::optional<BatchHeader> decode_batch_header(ByteView bytes, std::uint64_t key) {
  if (bytes.size() < batch_header_bytes) return std::nullopt;
  const std::byte* from = bytes.data();
  if (load_number<std::uint32_t>(from) != batch_magic) return std::nullopt;
  if (load_number<std::uint64_t>(from + 64) != (checksum(bytes.first(64)) ^ key))
    return std::nullopt;
  const auto flag = load_number<std::uint32_t>(from + 12);
  if (flag > static_cast<std::uint32_t>(BatchFlag::closed)) return std::nullopt;
  return BatchHeader{.records = load_number<std::uint32_t>(from + 4),
                     .body_bytes = load_number<std::uint32_t>(from + 8),
                     .flag = static_cast<BatchFlag>(flag),
                     .first = {load_number<std::uint64_t>(from + 16)},
                     .last = {load_number<std::uint64_t>(from + 24)},
                     .term = {load_number<std::uint64_t>(from + 32)},
                     .synced_to = {load_number<std::uint64_t>(from + 40)},
                     .synced_bytes = load_number<std::uint64_t>(from + 48),
                     .body_check = load_number<std::uint64_t>(from + 56)};
}

bool body_intact(const BatchHeader& header, ByteView body, std::uint64_t key) {
  return body.size() == header.body_bytes && (checksum(body) ^ key) == header.body_check;
}

void encode(const Trailer& trailer, std::uint64_t key, std::byte* into) {
  store_number(into, trailer_magic);
  store_number(into + 4, std::uint32_t{0});
  store_number(into + 8, trailer.batches);
  store_number(into + 16, trailer.first.value);
  store_number(into + 24, trailer.last.value);
  store_number(into + 32, trailer.term.value);
  store_number(into + 40, trailer.bytes);
  store_number(into + 48, trailer.check);
  store_number(into + 56, checksum({into, 56}) ^ key);
}

std::optional<Trailer> decode_trailer(ByteView bytes, std::uint64_t key) {
  if (bytes.size() < trailer_bytes) return std::nullopt;
  const std::byte* from = bytes.data();
  if (load_number<std::uint32_t>(from) != trailer_magic) return std::nullopt;
  if (load_number<std::uint64_t>(from + 56) != (checksum(bytes.first(56)) ^ key))
    return std::nullopt;
  return Trailer{.batches = load_number<std::uint64_t>(from + 8),
                 .first = {load_number<std::uint64_t>(from + 16)},
                 .last = {load_number<std::uint64_t>(from + 24)},
                 .term = {load_number<std::uint64_t>(from + 32)},
                 .bytes = load_number<std::uint64_t>(from + 40),
                 .check = load_number<std::uint64_t>(from + 48)};
}

void append_record(const Record& record, Position before, Bytes& into) {
  const bool event = record.kind == RecordKind::event;
  const std::size_t start = into.size();
  const std::size_t length = record_header_bytes + record.subject.size() + record.bytes.size();
  std::array<std::byte, record_header_bytes> header{};
  store_number(header.data() + 8, static_cast<std::uint32_t>(length));
  header[12] = static_cast<std::byte>(record.kind);
  header[13] = static_cast<std::byte>(record.local ? 1 : 0);
  header[14] = static_cast<std::byte>(record.state);
  header[15] = static_cast<std::byte>(record.subject.size());
  store_number(header.data() + 16, event ? record.position.value : before.value);
  store_number(header.data() + 24, event ? record.seq.value : record.number);
  store_number(header.data() + 32, record.time);
  into.insert(into.end(), header.begin(), header.end());
  append_bytes(into, as_bytes(record.subject));
  append_bytes(into, record.bytes);
  store_number(into.data() + start, checksum(ByteView(into).subspan(start + 8, length - 8)));
  into.resize(start + padded(length));
}

std::size_t claimed_length(ByteView bytes) {
  if (bytes.size() < record_header_bytes) return 0;
  const auto length = load_number<std::uint32_t>(bytes.data() + 8);
  const auto subject = std::to_integer<std::size_t>(bytes[15]);
  if (length < record_header_bytes + subject || length > record_bytes_max) return 0;
  return length;
}

Position claimed_position(ByteView bytes) {
  return {load_number<std::uint64_t>(bytes.data() + 16)};
}

bool claims_event(ByteView bytes) {
  return bytes[12] == static_cast<std::byte>(RecordKind::event);
}

std::expected<RecordView, ErrorCode> decode_record(ByteView bytes) {
  const std::size_t length = claimed_length(bytes);
  if (length == 0 || length > bytes.size()) return std::unexpected(ErrorCode::corrupt);
  const std::byte* from = bytes.data();
  if (load_number<std::uint64_t>(from) != checksum(bytes.subspan(8, length - 8))) {
    return std::unexpected(ErrorCode::corrupt);
  }
  const auto kind = std::to_integer<std::uint8_t>(from[12]);
  const auto state = std::to_integer<std::uint8_t>(from[14]);
  if (kind == 0 || kind > static_cast<std::uint8_t>(RecordKind::gate) ||
      state > static_cast<std::uint8_t>(RunState::cancelled)) {
    return std::unexpected(ErrorCode::unsupported);
  }
  const auto subject = std::to_integer<std::size_t>(from[15]);
  return RecordView{
      .kind = static_cast<RecordKind>(kind),
      .local = (from[13] & std::byte{1}) != std::byte{0},
      .state = static_cast<RunState>(state),
      .position = {load_number<std::uint64_t>(from + 16)},
      .number = load_number<std::uint64_t>(from + 24),
      .time = load_number<std::uint64_t>(from + 32),
      .subject = as_text(bytes.subspan(record_header_bytes, subject)),
      .bytes = bytes.subspan(record_header_bytes + subject, length - record_header_bytes - subject),
      .length = length};
}

std::string segment_name(std::uint64_t number) {
  return numbered(number, ".seg");
}
std::string draft_name(std::uint64_t number) {
  return numbered(number, ".new");
}

std::optional<std::uint64_t> segment_number(std::string_view name) {
  if (name.size() != digits + 4 || !name.ends_with(".seg")) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + digits, number);
  if (error != std::errc{} || end != name.data() + digits || number == 0) return std::nullopt;
  return number;
}

void append_bytes(Bytes& into, ByteView bytes) {
  constexpr std::size_t piece = 1024;
  if (into.capacity() - into.size() < bytes.size()) {
    into.reserve(std::max(into.size() + bytes.size(), 2 * into.capacity()));
  }
  while (bytes.size() > piece) {
    into.insert(into.end(), bytes.begin(), bytes.begin() + piece);
    bytes = bytes.subspan(piece);
  }
  into.insert(into.end(), bytes.begin(), bytes.end());
}

}  // namespace runwire::segments
