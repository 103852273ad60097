#pragma once

#include "codec/base/bytes.hpp"
#include "codec/base/check.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace runwire::fuzz {

/// The input as the codec takes it. Lifetime: of `data`.
inline ByteView input(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}

/// A property that must hold for every input; the fuzzer keeps the input for which it does not.
inline void require(bool holds, std::string_view property) {
  check(holds, property);
}

/// True where RUNWIRE_FUZZ_BUG names this bug: a target then behaves as if the codec had it, so
/// that the proof can show that it would be found.
inline bool bug(std::string_view name) {
  static const char* const wanted = std::getenv("RUNWIRE_FUZZ_BUG");
  return wanted != nullptr && name == wanted;
}

}  // namespace runwire::fuzz
