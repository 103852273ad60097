#pragma once

#include "codec/base/result.hpp"

#include <string>
#include <string_view>

namespace runwire::json {

/// The canonical form of any JSON text, built anew from simdjson's reading of it: members in order,
/// strings and numbers written again. The slower half of `canonicalise`, with the same errors.
/// Threads: any; uses this thread's parser.
[[nodiscard]] Result<std::string> rebuild(std::string_view text);

}  // namespace runwire::json
