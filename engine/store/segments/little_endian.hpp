#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace runwire::segments {

template <class T>
void store_number(std::byte* into, T number) {
  if constexpr (std::endian::native == std::endian::big) number = std::byteswap(number);
  std::memcpy(into, &number, sizeof number);
}

template <class T>
[[nodiscard]] T load_number(const std::byte* from) {
  T number{};
  std::memcpy(&number, from, sizeof number);
  if constexpr (std::endian::native == std::endian::big) number = std::byteswap(number);
  return number;
}

}  // namespace runwire::segments
