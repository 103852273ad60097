#pragma once

#include "codec/event/types.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace runwire {

/// The fields that some reserved type requires.
enum class Field : std::uint8_t {
  turn,
  index,
  deltas,
  attempt,  // integers
  operation_id,
  call_id,
  interaction_id,
  text_id,
  reasoning_id,
  name,  // identities
  model,
  finish,
  outcome,
  kind,
  reason,  // texts with something in them
  delta,
  text,
  message,  // texts that may be empty
  position,
  ending,
  retry,  // one of a few words
  usage,
  problem,  // objects
  input,
  invalid,  // one of both
};
inline constexpr std::size_t fields_count = static_cast<std::size_t>(Field::invalid) + 1;

/// A set of fields as bits.
class FieldSet {
 public:
  constexpr FieldSet() = default;
  template <class... Fields>
  constexpr explicit FieldSet(Field first, Fields... others) {
    (*this).add(first);
    (add(others), ...);
  }
  constexpr void add(Field field) { bits_ |= bit(field); }
  [[nodiscard]] constexpr bool has(Field field) const { return (bits_ & bit(field)) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  /// Those of `this` that are not in `other`.
  [[nodiscard]] constexpr FieldSet without(FieldSet other) const {
    FieldSet rest;
    rest.bits_ = bits_ & ~other.bits_;
    return rest;
  }

 private:
  static constexpr std::uint32_t bit(Field field) {
    return std::uint32_t{1} << static_cast<unsigned>(field);
  }
  std::uint32_t bits_ = 0;
};
static_assert(fields_count <= 32);

/// DESIGN's table of payloads: what `type` requires. Optional fields are not in it.
[[nodiscard]] FieldSet required_fields(TypeOf type);

/// The key under which a field stands in the data.
[[nodiscard]] std::string_view key_of(Field field);

/// The field among `wanted` that stands under `key`.
[[nodiscard]] std::optional<Field> field_at(std::string_view key, FieldSet wanted);

}  // namespace runwire
