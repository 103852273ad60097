#pragma once

#include "bridge/play/json.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace runwire::play {

// What can be wrong with a recording, as the `code` of a problem. A provider's own error keeps its
// own code.
inline constexpr std::string_view recording_invalid =
    "recording_invalid";  ///< A line or file is broken.
inline constexpr std::string_view recording_empty = "recording_empty";  ///< It says nothing.
inline constexpr std::string_view recording_too_large = "recording_too_large";  ///< Over a bound.
inline constexpr std::string_view stream_incomplete = "stream_incomplete";      ///< No end marker.
inline constexpr std::string_view stream_invalid = "stream_invalid";      ///< Contradicts itself.
inline constexpr std::string_view stream_restarted = "stream_restarted";  ///< Began anew half-way.
inline constexpr std::string_view provider_error = "provider_error";  ///< An error without a code.

struct Problem {
  std::string code{};
  std::string message{};
  bool retryable = false;
  std::size_t line = 0;  ///< Of the recording; 0: none in particular.
};

/// The `problem` of an event, within Bounds::problem_bytes_max.
[[nodiscard]] Json to_json(const Problem& problem);

/// What a provider said in an object with `code` or `type`, and `message`.
[[nodiscard]] Problem provider_problem(const Json& error);

}  // namespace runwire::play
