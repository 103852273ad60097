#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace runwire::wire {

/// The fields of an event in the only order that they have (docs/protocol.md, section 2).
enum class EventField : std::uint8_t { id, type, time, location, subject, durable, data, unknown };

inline constexpr std::array<std::string_view, 7> event_keys{
    "id", "type", "time", "location", "subject", "durable", "data"};

inline constexpr std::string_view version_key = "version";
inline constexpr std::string_view seq_key = "seq";
inline constexpr std::size_t location_key_bytes_max = 64;

[[nodiscard]] constexpr std::string_view key_of(EventField field) {
  return event_keys[static_cast<std::size_t>(field)];
}

/// `unknown` where no field has this name.
[[nodiscard]] constexpr EventField event_field(std::string_view key) {
  std::size_t at = 0;
  while (at < event_keys.size() && event_keys[at] != key)
    ++at;
  return static_cast<EventField>(at);
}

// The bytes with which msgpack values begin.
inline constexpr unsigned char mark_uint8 = 0xcc;
inline constexpr unsigned char mark_uint16 = 0xcd;
inline constexpr unsigned char mark_uint32 = 0xce;
inline constexpr unsigned char mark_uint64 = 0xcf;
inline constexpr unsigned char mark_map16 = 0xde;
inline constexpr unsigned char mark_empty_str = 0xa0;
inline constexpr unsigned char mark_fixmap = 0x80;

inline constexpr std::size_t fixmap_pairs_max = 15;
inline constexpr std::size_t fixed_uint_bytes = 9;  ///< `time` and `seq`, whatever their value.

/// Bytes before the characters of a str in shortest form.
[[nodiscard]] constexpr std::size_t str_header_bytes(std::size_t size) {
  return size < 32 ? 1 : size < 256 ? 2 : size < 65536 ? 3 : 5;
}
[[nodiscard]] constexpr std::size_t str_bytes(std::string_view text) {
  return str_header_bytes(text.size()) + text.size();
}
/// All bytes of an unsigned integer in shortest form.
[[nodiscard]] constexpr std::size_t uint_bytes(std::uint64_t value) {
  return value < 128 ? 1 : value < 256 ? 2 : value < 65536 ? 3 : value <= 0xffff'ffffU ? 5 : 9;
}
[[nodiscard]] constexpr std::size_t map_header_bytes(std::size_t pairs) {
  return pairs <= fixmap_pairs_max ? 1 : 3;
}

}  // namespace runwire::wire
