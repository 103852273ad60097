#pragma once

#include "codec/base/result.hpp"

#include <string>
#include <string_view>

namespace runwire::cli {

/// Runs `command` in a shell with `input` on its standard input and waits for its end.
/// Returns its exit status; a signal counts as 128 and its number.
[[nodiscard]] Result<int> run_shell(const std::string& command, std::string_view input);

}  // namespace runwire::cli
