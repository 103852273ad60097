#include "codec/base/error.hpp"

#include <algorithm>
#include <array>

namespace runwire {
namespace {

using Name = std::pair<ErrorCode, std::string_view>;
constexpr std::array names{
    Name{ErrorCode::invalid, "invalid"},
    Name{ErrorCode::too_large, "too_large"},
    Name{ErrorCode::lifecycle, "lifecycle"},
    Name{ErrorCode::not_owner, "not_owner"},
    Name{ErrorCode::fenced, "fenced"},
    Name{ErrorCode::out_of_order, "out_of_order"},
    Name{ErrorCode::unexpected_seq, "unexpected_seq"},
    Name{ErrorCode::conflict, "conflict"},
    Name{ErrorCode::backpressure, "backpressure"},
    Name{ErrorCode::store_full, "store_full"},
    Name{ErrorCode::store_failed, "store_failed"},
    Name{ErrorCode::closed, "closed"},
    Name{ErrorCode::observer_timeout, "observer_timeout"},
    Name{ErrorCode::observer_refused, "observer_refused"},
    Name{ErrorCode::cursor_expired, "cursor_expired"},
    Name{ErrorCode::cursor_ahead, "cursor_ahead"},
    Name{ErrorCode::cursor_foreign, "cursor_foreign"},
    Name{ErrorCode::slow_consumer, "slow_consumer"},
    Name{ErrorCode::unsupported, "unsupported"},
    Name{ErrorCode::corrupt, "corrupt"},
    Name{ErrorCode::locked, "locked"},
    Name{ErrorCode::not_found, "not_found"},
    Name{ErrorCode::timed_out, "timed_out"},
    Name{ErrorCode::unavailable, "unavailable"},
    Name{ErrorCode::internal, "internal"},
};

const FactValue* find(const Error& error, std::string_view name) {
  const auto fact = std::ranges::find(error.facts, name, &Fact::name);
  return fact == error.facts.end() ? nullptr : &fact->value;
}

}  // namespace

std::string_view to_string(ErrorCode code) {
  const auto* name = std::ranges::find(names, code, &Name::first);
  return name == names.end() ? "internal" : name->second;
}

std::optional<ErrorCode> error_code_from(std::string_view text) {
  const auto* name = std::ranges::find(names, text, &Name::second);
  if (name == names.end()) return std::nullopt;
  return name->first;
}

Error Error::with(std::string_view name, std::uint64_t value) && {
  facts.push_back({std::string(name), value});
  return std::move(*this);
}

Error Error::with(std::string_view name, std::string_view value) && {
  facts.push_back({std::string(name), std::string(value)});
  return std::move(*this);
}

std::optional<std::uint64_t> Error::number(std::string_view name) const {
  const FactValue* value = find(*this, name);
  if (value == nullptr || !std::holds_alternative<std::uint64_t>(*value)) return std::nullopt;
  return std::get<std::uint64_t>(*value);
}

std::optional<std::string_view> Error::text(std::string_view name) const {
  const FactValue* value = find(*this, name);
  if (value == nullptr || !std::holds_alternative<std::string>(*value)) return std::nullopt;
  return std::get<std::string>(*value);
}

std::string describe(const Error& error) {
  std::string line(to_string(error.code));
  line += ": " + error.message;
  const char* separator = " (";
  for (const Fact& fact : error.facts) {
    line += separator + fact.name + " ";
    line += std::holds_alternative<std::string>(fact.value)
                ? std::get<std::string>(fact.value)
                : std::to_string(std::get<std::uint64_t>(fact.value));
    separator = ", ";
  }
  if (!error.facts.empty()) line += ")";
  return line;
}

}  // namespace runwire
