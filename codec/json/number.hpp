#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace runwire::json {

/// The double that a JSON number stands for; nothing where `token` is not exactly one RFC 8259
/// number. Infinite where the number overflows; 0 where it underflows, as ECMAScript has it.
[[nodiscard]] std::optional<double> parse_number(std::string_view token);

/// True where every reader gets the same number back: finite, and not written in canonical form as
/// digits only beyond +-(2^53-1), which a JavaScript reader could not tell from its neighbours.
[[nodiscard]] bool exact_in_canonical_form(double number);

/// Appends the shortest ECMAScript form. Pre: finite.
void append_number(std::string& out, double number);

/// True where `token` is the canonical form of an acceptable number.
[[nodiscard]] bool is_canonical_number(std::string_view token);

}  // namespace runwire::json
