#pragma once

#include <compare>
#include <cstdint>

namespace runwire {

/// A number with a name: two of them with different tags never mix.
template <class Tag, class Rep = std::uint64_t>
struct Strong {
  Rep value{};
  friend constexpr auto operator<=>(const Strong&, const Strong&) = default;
};

using Sequence =
    Strong<struct SequenceTag>;  ///< Place in a subject; the first is 1, 0 is "before".
using Position = Strong<struct PositionTag>;    ///< Place in a log; the first is 1, 0 is "before".
using Term = Strong<struct TermTag>;            ///< How often a log was opened for writing.
using OwnerTerm = Strong<struct OwnerTermTag>;  ///< Grows by claim or promotion of a subject only.
using Epoch = Strong<struct EpochTag>;          ///< Which attach of an observer, or claim of a run.

/// Integers on the wire stay exact in JavaScript (DESIGN: numbers stay below 2^53).
inline constexpr std::uint64_t exact_integer_max = (std::uint64_t{1} << 53) - 1;

template <class Tag>
[[nodiscard]] constexpr Strong<Tag> next(Strong<Tag> number) {
  return {number.value + 1};
}

}  // namespace runwire
