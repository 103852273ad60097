#include "codec/wire/unknown_fields.hpp"

#include "codec/base/limits.hpp"
#include "codec/json/canonical.hpp"
#include "codec/wire/event_keys.hpp"

#include <msgpack.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runwire::wire {
namespace {

std::unexpected<Error> refuse(std::string_view why) {
  return fail(ErrorCode::invalid, "event: unknown fields: " + std::string(why));
}

/// True where two of `keys` are the same; puts them in order.
bool any_twice(std::vector<std::string_view>& keys) {
  std::ranges::sort(keys);
  return std::ranges::adjacent_find(keys) != keys.end();
}

/// Looks at one value: how deep, whether a text and which one, whether anything is forbidden. The
/// keys of its maps are texts, each once, as everywhere in the protocol.
class ValueVisitor : public msgpack::null_visitor {
 public:
  bool visit_nil() { return no_key(); }
  bool visit_boolean(bool) { return no_key(); }
  bool visit_positive_integer(std::uint64_t) { return no_key(); }
  bool visit_negative_integer(std::int64_t) { return no_key(); }
  bool visit_float32(float) { return no_key(); }
  bool visit_float64(double) { return no_key(); }
  bool visit_bin(const char*, std::uint32_t) { return no_key(); }
  bool visit_str(const char* data, std::uint32_t size) {
    if (depth_ == 0) text_ = std::string_view(data, size);
    if (in_key_) maps_.back().emplace_back(data, size);
    if (json::valid_utf8({data, size})) return true;
    return stop({ErrorCode::invalid, "event: unknown fields: text that is not UTF-8", {}});
  }
  bool visit_ext(const char*, std::uint32_t) {
    return stop({ErrorCode::invalid, "event: unknown fields: an extension type", {}});
  }
  bool start_array(std::uint32_t) { return no_key() && enter(); }
  bool start_map(std::uint32_t) {
    maps_.emplace_back();
    return no_key() && enter();
  }
  bool end_array() { return leave(); }
  bool end_map() {
    const bool twice = any_twice(maps_.back());
    maps_.pop_back();
    if (twice) return stop({ErrorCode::invalid, "event: unknown fields: a key comes twice", {}});
    return leave();
  }
  bool start_map_key() {
    in_key_ = true;
    return true;
  }
  bool end_map_key() {
    in_key_ = false;
    return true;
  }
  void parse_error(std::size_t, std::size_t) {
    stop({ErrorCode::invalid, "event: unknown fields: a byte that starts no value", {}});
  }

  [[nodiscard]] const std::optional<std::string_view>& text() const { return text_; }
  [[nodiscard]] std::optional<Error>& error() { return error_; }

 private:
  bool stop(Error error) {
    error_ = std::move(error);
    return false;
  }
  bool no_key() {
    if (!in_key_) return true;
    return stop({ErrorCode::invalid, "event: unknown fields: a key that is no text", {}});
  }
  bool enter() {
    // The event's own map is the first level.
    if (++depth_ < limits::depth_max) return true;
    return stop(Error{ErrorCode::too_large, "event: unknown fields: nested too deep", {}}.with(
        "limit", limits::depth_max));
  }
  bool leave() {
    --depth_;
    return true;
  }

  std::size_t depth_ = 0;
  bool in_key_ = false;
  std::vector<std::vector<std::string_view>> maps_{};  ///< The keys of the maps around; depth_max.
  std::optional<std::string_view> text_{};
  std::optional<Error> error_{};
};

/// The value at `offset`, where it is a text; moves `offset` behind it.
Result<std::optional<std::string_view>> take_value(std::string_view pairs, std::size_t& offset) {
  ValueVisitor visitor;
  const bool whole = msgpack::parse(pairs.data(), pairs.size(), offset, visitor);
  if (visitor.error()) return fail(std::move(*visitor.error()));
  if (!whole) return refuse("truncated");
  return visitor.text();
}

Status check_keys(std::vector<std::string_view>& keys) {
  const auto known = [](std::string_view key) { return event_field(key) != EventField::unknown; };
  if (std::ranges::any_of(keys, known)) return refuse("a known field comes twice or behind `data`");
  if (any_twice(keys)) return refuse("a key comes twice");
  return {};
}

}  // namespace

Result<std::size_t> count_unknown_fields(ByteView pairs) {
  if (pairs.empty()) return 0;
  if (pairs.size() > limits::unknown_bytes_max) {
    return fail(Error{ErrorCode::too_large, "event: unknown fields: too many bytes", {}}
                    .with("limit", limits::unknown_bytes_max)
                    .with("bytes", pairs.size()));
  }
  const std::string_view text = as_text(pairs);
  std::vector<std::string_view> keys;
  try {
    for (std::size_t offset = 0; offset < text.size();) {
      const std::size_t begin = offset;
      auto key = take_value(text, offset);
      if (!key) return fail(std::move(key.error()));
      if (!*key) return refuse("a key that is no text");
      if (offset - begin != str_bytes(**key))
        return refuse("a key that is not in the shortest form");
      keys.push_back(**key);
      auto value = take_value(text, offset);
      if (!value) return fail(std::move(value.error()));
    }
  } catch (const std::exception& failure) {
    return refuse(failure.what());
  }
  if (auto status = check_keys(keys); !status) return fail(std::move(status.error()));
  return keys.size();
}

}  // namespace runwire::wire
