#pragma once

#include "codec/base/result.hpp"

#include <string>
#include <string_view>

namespace runwire::json {

/// The canonical form of one JSON text (RFC 8785: no white space, keys ordered by UTF-16 code
/// unit, ECMAScript numbers). A text that is canonical already is recognised and copied.
///
/// Errors: `invalid` with the fact `offset` (bytes) for what RFC 8259 or I-JSON forbids: syntax,
/// trailing bytes, invalid UTF-8, lone surrogates, duplicate keys, numbers that overflow, and
/// numbers that in canonical form are digits only and beyond +-(2^53-1); `too_large` for depth over
/// limits::depth_max or a result over limits::data_bytes_max.
/// Threads: any; keeps one parser per thread.
[[nodiscard]] Result<std::string> canonicalise(std::string_view text);

/// True where `text` is canonical already; the same errors.
[[nodiscard]] Result<bool> is_canonical(std::string_view text);

/// `text` as a JSON string with its quotes, escaped the canonical way. Pre: valid UTF-8.
[[nodiscard]] std::string quote(std::string_view text);

/// True where `text` is valid UTF-8 without surrogates (RFC 3629).
[[nodiscard]] bool valid_utf8(std::string_view text);

}  // namespace runwire::json
