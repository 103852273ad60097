#pragma once

#include "codec/base/bytes.hpp"

#include <string>
#include <string_view>

/// What C++ makes of one line of a vector file (tests/golden/README.md).
namespace runwire::golden {

struct Verdict {
  std::string name{};
  std::string expected{};  ///< `ok`, or the code of an error.
  std::string given{};     ///< The same, or `differs: ...` where the bytes were taken but not kept.
};

/// `line`: one vector of an events or a messages file. Throws what the JSON library throws where it
/// is none: vectors are the project's own.
[[nodiscard]] Verdict judge(std::string_view line);

/// The bytes that a recipe stands for: words of hex, `HEX*N` is that unit N times.
[[nodiscard]] Bytes from_recipe(std::string_view recipe);

}  // namespace runwire::golden
