#pragma once

#include <source_location>
#include <string_view>

namespace runwire {

/// Prints one line and ends the process: a broken invariant is a bug, in every build type.
[[noreturn]] void check_failed(std::string_view what, const std::source_location& where) noexcept;

/// For what only a bug can make false. What somebody else's data can make false is an Error.
inline void check(bool holds,
                  std::string_view what,
                  const std::source_location& where = std::source_location::current()) noexcept {
  if (!holds) [[unlikely]]
    check_failed(what, where);
}

}  // namespace runwire
