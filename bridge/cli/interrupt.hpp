#pragma once

#include <chrono>

namespace runwire::cli {

/// Catches SIGINT and SIGTERM once: the second one ends the process as if they were not caught.
/// SIGPIPE is ignored, so that a closed pipe is a failed write.
void catch_signals();
[[nodiscard]] bool interrupted();
/// Waits for a signal; true when one came within `timeout`.
bool wait_interrupted(std::chrono::milliseconds timeout);

/// How long one wait of a command lasts before it looks at `interrupted()` again.
inline constexpr std::chrono::milliseconds look_every{200};

}  // namespace runwire::cli
