#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

/// Reading foreign JSON without surprises: every accessor answers for every value, none throws.
namespace runwire::play {

using Json = nlohmann::json;

/// An object or array no deeper than limits::depth_max, valid UTF-8; nothing else is parsed.
[[nodiscard]] std::optional<Json> parse_json(std::string_view text);

/// The member, or null where `value` is no object, has no such key, or holds null there.
[[nodiscard]] const Json* member(const Json& value, std::string_view key);
/// The member where it is a string; else empty.
[[nodiscard]] std::string_view text_at(const Json& value, std::string_view key);
/// The member where it is an integer from 0 to 2^53-1.
[[nodiscard]] std::optional<std::uint64_t> count_at(const Json& value, std::string_view key);
/// The value as text: a string as it is, everything else as JSON, null as nothing.
[[nodiscard]] std::string text_of(const Json* value);
/// Compact JSON; never throws.
[[nodiscard]] std::string dump(const Json& value);

}  // namespace runwire::play
