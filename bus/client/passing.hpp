#pragma once

#include "codec/base/error.hpp"

namespace runwire::client {

/// The server is not there, or not now: no reason for a client that has time to give up.
[[nodiscard]] inline bool passes(ErrorCode code) {
  return code == ErrorCode::timed_out || code == ErrorCode::unavailable ||
         code == ErrorCode::closed || code == ErrorCode::backpressure;
}

}  // namespace runwire::client
