#pragma once

#include "codec/base/ids.hpp"
#include "codec/base/result.hpp"
#include "codec/base/strong.hpp"
#include "codec/wire/tape.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace runwire::wire {

struct Range {
  std::uint64_t least = 0;
  std::uint64_t most = exact_integer_max;
};

class Fields;

/// One value of a message: asked for the form that is wanted, it gives it or notes why not.
/// The first problem of a message wins, and `name` says which key it is about.
class Value {
 public:
  Value(const Tape& tape, std::size_t index, std::string_view name, std::optional<Error>& problem)
      : tape_(&tape), index_(index), name_(name), problem_(&problem) {}

  std::uint64_t number(Range range = {}) const;
  bool boolean() const;
  std::string_view text(std::size_t bytes_max) const;
  std::array<std::byte, 16> sixteen() const;
  Fields map() const;

  [[nodiscard]] bool is_text() const { return kind() == Token::Kind::text; }
  /// Items of a list, 0 with a problem where it is none or has another number of items.
  std::size_t items(std::size_t least, std::size_t most) const;
  /// Calls `each(Value)` for every item. Pre: items() was not 0.
  template <class Each>
  void for_each(Each&& each) const {
    for (std::size_t at = index_ + 1; at < tape_->at(index_).end; at = tape_->at(at).end) {
      each(Value(*tape_, at, name_, *problem_));
    }
  }
  void refuse(ErrorCode code, std::string_view why) const;

 private:
  [[nodiscard]] Token::Kind kind() const { return tape_->at(index_).kind; }

  const Tape* tape_;
  std::size_t index_;
  std::string_view name_;
  std::optional<Error>* problem_;
};

/// The keys of one map, pulled by name; unknown keys are never looked at. Looking starts behind the
/// key found last, so that a message in the page's order costs one comparison a key.
///
/// Lifetime: the tape and the problem must outlive it. Errors: the first one stays in `problem`,
/// later answers are empty; the decoder looks at it once, at its end.
class Fields {
 public:
  Fields(const Tape& tape, std::size_t map, std::string_view name, std::optional<Error>& problem)
      : tape_(&tape), map_(map), next_(map + 1), name_(name), problem_(&problem) {}

  /// The value of `key`, or nullopt where it is absent.
  std::optional<Value> find(std::string_view key);
  /// The same, but absence is a problem.
  std::optional<Value> need(std::string_view key);

  std::uint64_t number(std::string_view key, Range range = {});
  std::uint64_t number_or(std::string_view key, std::uint64_t fallback, Range range = {});
  std::optional<std::uint64_t> maybe_number(std::string_view key, Range range = {});
  bool boolean_or(std::string_view key, bool fallback);
  std::string_view text(std::string_view key, std::size_t bytes_max);
  std::string_view text_or(std::string_view key,
                           std::size_t bytes_max,
                           std::string_view fallback = {});
  template <class Id>
  Id id(std::string_view key) {
    const std::optional<Value> value = need(key);
    return value ? Id{value->sixteen()} : Id{};
  }
  template <class Id>
  std::optional<Id> maybe_id(std::string_view key) {
    const std::optional<Value> value = find(key);
    if (!value) return std::nullopt;
    return Id{value->sixteen()};
  }
  /// Calls `each(Value)` for every item of the list under `key`; absent is a problem if `least` >
  /// 0.
  template <class Each>
  void list(std::string_view key, std::pair<std::size_t, std::size_t> least_most, Each&& each) {
    const auto [least, most] = least_most;
    const std::optional<Value> value = least > 0 ? need(key) : find(key);
    if (value && value->items(least, most) > 0) value->for_each(each);
  }
  /// Calls `each(key, Value)` for every pair of this map.
  template <class Each>
  void for_each_pair(Each&& each) {
    for (std::size_t at = map_ + 1; at < tape_->at(map_).end; at = tape_->at(at + 1).end) {
      each(tape_->text(at), Value(*tape_, at + 1, name_, *problem_));
    }
  }

  [[nodiscard]] std::size_t pairs() const { return tape_->at(map_).size; }
  [[nodiscard]] bool first_key_is(std::string_view key) const;
  [[nodiscard]] bool sound() const { return !problem_->has_value(); }
  void refuse(ErrorCode code, std::string_view key, std::string_view why);
  /// Runs a check of the codec on a text that was read; its error gets the key's name.
  void judge(std::string_view key, const Status& verdict);

 private:
  const Tape* tape_;
  std::size_t map_;
  std::size_t next_;  ///< Where the next look starts.
  std::string_view name_;
  std::optional<Error>* problem_;
};

}  // namespace runwire::wire
