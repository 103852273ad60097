#pragma once

#include "codec/base/error.hpp"

#include <expected>
#include <utility>

namespace runwire {

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

/// `return fail(ErrorCode::too_large, "event: over 1 MiB")` reads as what it does.
[[nodiscard]] inline std::unexpected<Error> fail(Error error) {
  return std::unexpected<Error>(std::move(error));
}
[[nodiscard]] inline std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected<Error>(Error{code, std::move(message), {}});
}

}  // namespace runwire
