#pragma once

#include "codec/base/result.hpp"

#include <string_view>

namespace runwire::json {

/// Refuses what is wrong inside the strings of a JSON text, and says where: bytes that are not
/// UTF-8, control characters, unknown escapes, escaped surrogates without their partner, a string
/// without an end. What is wrong outside strings is left to the parser.
///
/// Errors: `invalid` with the fact `offset`. Threads: any.
[[nodiscard]] Status check_strings(std::string_view text);

/// The error of every refusal of a JSON text: `data: why`, with where it is.
[[nodiscard]] Error malformed(std::string_view why, std::size_t offset);

}  // namespace runwire::json
