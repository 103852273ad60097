#pragma once

#include "codec/base/result.hpp"

#include <string>
#include <string_view>

namespace runwire::bus {

/// An endpoint that may be bound: `ipc` with its path, or loopback `tcp` in the form for libzmq.
struct BindEndpoint {
  bool ipc = false;
  std::string path{};      ///< ipc
  std::string endpoint{};  ///< What libzmq is given.
};

/// ipc, tcp://127.x.x.x, tcp://localhost and tcp://[::1], each with a port or `*`. Anything wider
/// than this machine is `invalid`: it needs authentication, which comes with a later version.
[[nodiscard]] Result<BindEndpoint> judge_bind(std::string_view endpoint);

/// ipc or tcp with something behind it; where to connect is the caller's business.
[[nodiscard]] Status judge_connect(std::string_view endpoint);

}  // namespace runwire::bus
