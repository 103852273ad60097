#pragma once

#include "codec/base/result.hpp"
#include "codec/event/event.hpp"

#include <cstddef>
#include <string_view>

/// The rules of single fields of an event, the same for the encoder and the decoder.
namespace runwire::wire {

/// A field that is not what it has to be: `event.subject: ...`.
[[nodiscard]] Error bad_field(std::string_view field, std::string_view why);
/// A field over its bound, with the facts `limit` and `bytes`.
[[nodiscard]] Error large_field(std::string_view field, std::size_t limit, std::size_t bytes);

/// UTF-8 and at most limits::data_bytes_max.
[[nodiscard]] Status check_data(std::string_view data);
/// 1..2^32-1.
[[nodiscard]] Status check_version(std::uint64_t version);
/// Below 2^53.
[[nodiscard]] Status check_number(std::string_view field, std::uint64_t value);
/// One entry of a location. Pre: `previous` is the key before it, empty for the first.
[[nodiscard]] Status check_location_key(std::string_view previous, std::string_view key);
[[nodiscard]] Status check_location_value(std::string_view value);

}  // namespace runwire::wire
