#pragma once

#include "codec/base/bytes.hpp"
#include "codec/base/check.hpp"

#include <cstddef>
#include <cstdint>

namespace runwire::fuzz {

/// The input as the codec takes it. Lifetime: of `data`.
inline ByteView input(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}

/// A property that must hold for every input; the fuzzer keeps the input for which it does not.
inline void require(bool holds, std::string_view property) {
  check(holds, property);
}

}  // namespace runwire::fuzz
