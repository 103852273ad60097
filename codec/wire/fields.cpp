#include "codec/wire/fields.hpp"

#include "codec/base/check.hpp"

#include <algorithm>
#include <cstring>

namespace runwire::wire {

void Value::refuse(ErrorCode code, std::string_view why) const {
  if (problem_->has_value()) return;
  *problem_ = Error{code, std::string(name_) + ": " + std::string(why), {}};
}

std::uint64_t Value::number(Range range) const {
  const Token& token = tape_->at(index_);
  if (token.kind != Token::Kind::number) {
    refuse(ErrorCode::invalid, "wants an unsigned integer");
    return range.least;
  }
  if (token.number < range.least || token.number > range.most) {
    refuse(ErrorCode::invalid,
           std::to_string(token.number) + " is not within " + std::to_string(range.least) + ".." +
               std::to_string(range.most));
    return range.least;
  }
  return token.number;
}

bool Value::boolean() const {
  if (kind() != Token::Kind::boolean) refuse(ErrorCode::invalid, "wants true or false");
  return tape_->at(index_).number != 0;
}

std::string_view Value::text(std::size_t bytes_max) const {
  if (kind() != Token::Kind::text) {
    refuse(ErrorCode::invalid, "wants a text");
    return {};
  }
  if (tape_->at(index_).size > bytes_max) {
    refuse(ErrorCode::too_large,
           std::to_string(tape_->at(index_).size) + " bytes, over " + std::to_string(bytes_max));
    return {};
  }
  return tape_->text(index_);
}

std::array<std::byte, 16> Value::sixteen() const {
  std::array<std::byte, 16> bytes{};
  const Token& token = tape_->at(index_);
  if (token.kind != Token::Kind::binary || token.size != bytes.size()) {
    refuse(ErrorCode::invalid, "wants a bin of 16 bytes");
    return bytes;
  }
  std::memcpy(bytes.data(), token.data, bytes.size());
  return bytes;
}

Fields Value::map() const {
  if (kind() == Token::Kind::map) return {*tape_, index_, name_, *problem_};
  refuse(ErrorCode::invalid, "wants a map");
  // The header itself is a map: reading goes on there, to no effect, since the problem is noted.
  return {*tape_, 0, name_, *problem_};
}

std::size_t Value::items(std::size_t least, std::size_t most) const {
  const Token& token = tape_->at(index_);
  if (token.kind != Token::Kind::list) {
    refuse(ErrorCode::invalid, "wants a list");
    return 0;
  }
  if (token.size > most) {
    refuse(ErrorCode::too_large,
           std::to_string(token.size) + " items, over " + std::to_string(most));
    return 0;
  }
  if (token.size < least) {
    refuse(ErrorCode::invalid, "wants at least " + std::to_string(least) + " items");
    return 0;
  }
  return token.size;
}

std::optional<Value> Fields::find(std::string_view key) {
  const Token& map = tape_->at(map_);
  std::size_t at = next_;
  for (std::uint32_t looked = 0; looked < map.size; ++looked) {
    if (at >= map.end) at = map_ + 1;
    const std::size_t behind = tape_->at(at + 1).end;
    if (tape_->text(at) == key) {
      next_ = behind;
      return Value(*tape_, at + 1, key, *problem_);
    }
    at = behind;
  }
  return std::nullopt;
}

std::optional<Value> Fields::need(std::string_view key) {
  std::optional<Value> value = find(key);
  if (!value) refuse(ErrorCode::invalid, key, "is missing");
  return value;
}

std::uint64_t Fields::number(std::string_view key, Range range) {
  const std::optional<Value> value = need(key);
  return value ? value->number(range) : range.least;
}

std::uint64_t Fields::number_or(std::string_view key, std::uint64_t fallback, Range range) {
  return maybe_number(key, range).value_or(fallback);
}

std::optional<std::uint64_t> Fields::maybe_number(std::string_view key, Range range) {
  const std::optional<Value> value = find(key);
  if (!value) return std::nullopt;
  return value->number(range);
}

bool Fields::boolean_or(std::string_view key, bool fallback) {
  const std::optional<Value> value = find(key);
  return value ? value->boolean() : fallback;
}

std::string_view Fields::text(std::string_view key, std::size_t bytes_max) {
  const std::optional<Value> value = need(key);
  return value ? value->text(bytes_max) : std::string_view{};
}

std::string_view Fields::text_or(std::string_view key,
                                 std::size_t bytes_max,
                                 std::string_view fallback) {
  const std::optional<Value> value = find(key);
  return value ? value->text(bytes_max) : fallback;
}

bool Fields::first_key_is(std::string_view key) const {
  return tape_->at(map_).size > 0 && tape_->text(map_ + 1) == key;
}

void Fields::refuse(ErrorCode code, std::string_view key, std::string_view why) {
  if (problem_->has_value()) return;
  *problem_ = Error{code, std::string(key) + ": " + std::string(why), {}};
}

void Fields::judge(std::string_view key, const Status& verdict) {
  if (verdict || problem_->has_value()) return;
  *problem_ = verdict.error();
  (*problem_)->message = std::string(key) + ": " + (*problem_)->message;
}

}  // namespace runwire::wire
