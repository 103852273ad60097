#pragma once

#include "codec/base/error.hpp"

namespace runwire::cli {

/// What a shell script branches on; `runwire --help` lists them.
enum Exit : int {
  exit_ok = 0,
  exit_refused = 1,      ///< The server, or a rule, said no.
  exit_usage = 2,        ///< The command line makes no sense.
  exit_unreachable = 3,  ///< No server, or no answer in time.
  exit_cursor = 4,       ///< The cursor cannot be honoured.
  exit_fenced = 5,       ///< Somebody newer holds the name or the run.
  exit_store = 6,        ///< The store is locked, full or broken.
  exit_interrupted = 130,
};

/// Writes `describe(error)` and, where there is one, what to do next, to standard error.
/// Returns the exit code that goes with it.
int report(const Error& error);
[[nodiscard]] int exit_code_of(ErrorCode code);
/// What to do about it; empty where the message says it all.
[[nodiscard]] std::string_view hint_of(ErrorCode code);

}  // namespace runwire::cli
