#include "codec/wire/event_rules.hpp"

#include "codec/base/limits.hpp"
#include "codec/json/canonical.hpp"
#include "codec/wire/event_keys.hpp"

#include <limits>

namespace runwire::wire {

Error bad_field(std::string_view field, std::string_view why) {
  return {ErrorCode::invalid, "event." + std::string(field) + ": " + std::string(why), {}};
}

Error large_field(std::string_view field, std::size_t limit, std::size_t bytes) {
  return Error{ErrorCode::too_large, "event." + std::string(field) + ": over its bound", {}}
      .with("limit", limit)
      .with("bytes", bytes);
}

Status check_data(std::string_view data) {
  if (data.size() > limits::data_bytes_max) {
    return fail(large_field("data", limits::data_bytes_max, data.size()));
  }
  if (data.empty()) return fail(bad_field("data", "empty is not JSON"));
  if (!json::valid_utf8(data)) return fail(bad_field("data", "not UTF-8"));
  return {};
}

Status check_version(std::uint64_t version) {
  if (version >= 1 && version <= std::numeric_limits<std::uint32_t>::max()) return {};
  return fail(bad_field("durable.version", "must be 1 .. 2^32-1"));
}

Status check_number(std::string_view field, std::uint64_t value) {
  if (value <= exact_integer_max) return {};
  return fail(bad_field(field, "must be below 2^53"));
}

Status check_location_key(std::string_view previous, std::string_view key) {
  if (key.empty()) return fail(bad_field("location", "an empty key"));
  if (key.size() > location_key_bytes_max) {
    return fail(large_field("location", location_key_bytes_max, key.size()));
  }
  if (!json::valid_utf8(key)) return fail(bad_field("location", "not UTF-8"));
  if (key == previous) return fail(bad_field("location", "a key comes twice"));
  if (key < previous) return fail(bad_field("location", "keys are not in order"));
  return {};
}

Status check_location_value(std::string_view value) {
  if (value.size() > limits::location_value_bytes_max) {
    return fail(large_field("location", limits::location_value_bytes_max, value.size()));
  }
  if (!json::valid_utf8(value)) return fail(bad_field("location", "not UTF-8"));
  return {};
}

}  // namespace runwire::wire
