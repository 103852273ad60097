#pragma once

#include <filesystem>

namespace runwire::test {

/// The checkout that these tests were built from. Not from __FILE__: a build that shares a compiler
/// cache between checkouts makes that relative.
[[nodiscard]] std::filesystem::path source_directory();

}  // namespace runwire::test
