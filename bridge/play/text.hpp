#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Cutting UTF-8 text without cutting a character. Pre, for all: the text is valid UTF-8.
namespace runwire::play {

/// The longest beginning of at most `bytes_max` bytes that ends with a whole character.
[[nodiscard]] std::string_view clip(std::string_view text, std::size_t bytes_max);

/// `text`, or its beginning and a marker that says how long it was, within `bytes_max` in all.
[[nodiscard]] std::string shorten(std::string_view text, std::size_t bytes_max);

/// Takes the next `count` words with the white space after them off the front of `rest`.
/// Pre: `rest` is not empty. Never empty; at most `bytes_max` bytes.
[[nodiscard]] std::string_view take_words(std::string_view& rest,
                                          std::size_t count,
                                          std::size_t bytes_max);

/// An upper bound of the bytes between the quotes of the JSON string.
[[nodiscard]] std::size_t escaped_bytes(std::string_view text);

[[nodiscard]] bool blank(std::string_view text);

}  // namespace runwire::play
