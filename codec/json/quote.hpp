#pragma once

#include <string>
#include <string_view>

namespace runwire::json {

/// Appends `text` as `quote` would give it. Pre: valid UTF-8.
void append_quoted(std::string& out, std::string_view text);

}  // namespace runwire::json
