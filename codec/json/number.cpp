#include "codec/json/number.hpp"

#include "codec/base/strong.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <double-conversion/double-conversion.h>

namespace runwire::json {
namespace {

using double_conversion::DoubleToStringConverter;
using double_conversion::StringBuilder;
using double_conversion::StringToDoubleConverter;

/// ECMAScript prints digits alone up to here, and an exponent from here on.
constexpr double digits_only_end = 1e21;
/// No two decimals of so many digits are the same double (DBL_DIG), so none of them has a shorter
/// form.
constexpr std::size_t safe_digits_max = 15;
/// ECMAScript prints an exponent where more zeros than these would lead a fraction.
constexpr std::size_t leading_zeros_max = 5;

constexpr bool is_digit(char character) {
  return character >= '0' && character <= '9';
}

/// Takes the digits at the front of `rest`; false where there are none.
bool take_digits(std::string_view& rest) {
  const auto* const end = std::find_if_not(rest.begin(), rest.end(), is_digit);
  const auto count = static_cast<std::size_t>(end - rest.begin());
  rest.remove_prefix(count);
  return count > 0;
}

bool take_one_of(std::string_view& rest, std::string_view wanted) {
  if (rest.empty() || wanted.find(rest.front()) == std::string_view::npos) return false;
  rest.remove_prefix(1);
  return true;
}

/// RFC 8259, section 6.
bool is_number(std::string_view token) {
  take_one_of(token, "-");
  if (!take_one_of(token, "0") && !take_digits(token)) return false;
  if (take_one_of(token, ".") && !take_digits(token)) return false;
  if (take_one_of(token, "eE")) {
    take_one_of(token, "+-");
    if (!take_digits(token)) return false;
  }
  return token.empty();
}

using Printed = std::array<char, DoubleToStringConverter::kMaxCharsEcmaScriptShortest + 1>;

std::string_view print(double number, Printed& room) {
  StringBuilder builder(room.data(), static_cast<int>(room.size()));
  DoubleToStringConverter::EcmaScriptConverter().ToShortest(number, &builder);
  const auto length = static_cast<std::size_t>(builder.position());
  builder.Finalize();
  return {room.data(), length};
}

/// The quick half of is_canonical_number: few digits, no exponent and no digit too many need no
/// arithmetic.
bool is_short_decimal(std::string_view token) {
  const bool negative = take_one_of(token, "-");
  if (token.empty() || token.size() > safe_digits_max) return false;
  const bool zero = token.front() == '0';
  if (!take_one_of(token, "0") && !take_digits(token)) return false;
  if (token.empty()) return !(zero && negative);
  if (!take_one_of(token, ".") || token.empty() || token.back() == '0') return false;
  if (zero && token.find_first_not_of('0') > leading_zeros_max) return false;
  return take_digits(token) && token.empty();
}

}  // namespace

std::optional<double> parse_number(std::string_view token) {
  if (!is_number(token)) return std::nullopt;
  static const StringToDoubleConverter converter(
      StringToDoubleConverter::NO_FLAGS, 0.0, 0.0, nullptr, nullptr);
  int used = 0;
  return converter.StringToDouble(token.data(), static_cast<int>(token.size()), &used);
}

bool exact_in_canonical_form(double number) {
  const double size = std::fabs(number);
  if (!std::isfinite(number)) return false;
  return size <= static_cast<double>(exact_integer_max) || size >= digits_only_end;
}

void append_number(std::string& out, double number) {
  Printed room;
  out += print(number, room);
}

bool is_canonical_number(std::string_view token) {
  if (is_short_decimal(token)) return true;
  Printed room;
  if (token.size() >= room.size()) return false;
  const std::optional<double> number = parse_number(token);
  return number && exact_in_canonical_form(*number) && print(*number, room) == token;
}

}  // namespace runwire::json
