#pragma once

#include <string_view>

namespace runwire::json {

/// True only where `text` is canonical JSON: one pass, nothing built, nothing allocated. False says
/// no more than "not seen to be": a key with an escape in it is left to the slower way.
[[nodiscard]] bool seen_to_be_canonical(std::string_view text);

}  // namespace runwire::json
