#include "bridge/cli/exit_codes.hpp"

#include <cstdio>
#include <fmt/core.h>

namespace runwire::cli {

int exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::unavailable:
    case ErrorCode::timed_out:
    case ErrorCode::closed:
      return exit_unreachable;
    case ErrorCode::cursor_expired:
    case ErrorCode::cursor_ahead:
    case ErrorCode::cursor_foreign:
      return exit_cursor;
    case ErrorCode::fenced:
    case ErrorCode::not_owner:
      return exit_fenced;
    case ErrorCode::locked:
    case ErrorCode::store_failed:
    case ErrorCode::store_full:
    case ErrorCode::corrupt:
      return exit_store;
    default:
      return exit_refused;
  }
}

std::string_view hint_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::unavailable:
      return "start one with: runwire serve --data DIR, or name another with --connect URL or "
             "RUNWIRE_URL";
    case ErrorCode::timed_out:
      return "the outcome is unknown; the same command with the same ids is safe to repeat";
    case ErrorCode::cursor_expired:
      return "go on from the oldest kept event with --from start, and note what was missed";
    case ErrorCode::cursor_ahead:
      return "the cursor is of another log, or of one that was restored from a copy; --from start "
             "reads what is there";
    case ErrorCode::cursor_foreign:
      return "this log is not the one the cursor was made for; --from start reads this one";
    case ErrorCode::fenced:
      return "a newer consumer or owner has taken over; stop this one";
    case ErrorCode::not_owner:
      return "the run is claimed; wait for its lease to lapse, or append through its owner";
    case ErrorCode::lifecycle:
      return "runwire tail SUBJECT --until-caught-up shows what the run has had so far";
    case ErrorCode::locked:
      return "stop the other process first, or give this one another directory or endpoint";
    case ErrorCode::store_failed:
      return "start the server again: opening reads the log anew and says what is wrong";
    case ErrorCode::store_full:
      return "free some space; nothing was taken, and appends work again by themselves";
    case ErrorCode::backpressure:
      return "nothing was taken; retry later (runwire observers shows who is behind)";
    case ErrorCode::observer_timeout:
      return "the events are committed and stay owed; runwire observers shows who is behind";
    case ErrorCode::not_found:
      return "runwire observers and runwire runs list the names that exist";
    default:
      return {};
  }
}

int report(const Error& error) {
  fmt::print(stderr, "runwire: {}\n", describe(error));
  if (const std::string_view hint = hint_of(error.code); !hint.empty())
    fmt::print(stderr, "hint: {}\n", hint);
  return exit_code_of(error.code);
}

}  // namespace runwire::cli
