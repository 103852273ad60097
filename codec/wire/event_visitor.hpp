#pragma once

#include "codec/base/bytes.hpp"
#include "codec/base/result.hpp"
#include "codec/event/event.hpp"
#include "codec/wire/event_keys.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace runwire::wire {

/// What msgpack's parser tells of one event, judged as it comes and put into an EventView.
/// Private to codec's sources; it has every call of msgpack's visitor without showing msgpack.
///
/// It knows at each value where that value's first byte has to be, so it can tell the one canonical
/// form from all others by looking at that byte. Inside unknown fields, which are any msgpack, it
/// only keeps count of the depth; `count_unknown_fields` judges them afterwards.
/// Bound: refuses before the parser would go deeper than limits::depth_max; allocates nothing.
class EventVisitor {
 public:
  explicit EventVisitor(const char* begin) : begin_(begin), at_(begin) {}

  bool visit_nil() { return other("nil"); }
  bool visit_boolean(bool) { return other("a boolean"); }
  bool visit_negative_integer(std::int64_t) { return other("a signed integer"); }
  bool visit_float32(float) { return other("a floating-point number"); }
  bool visit_float64(double) { return other("a floating-point number"); }
  bool visit_ext(const char*, std::uint32_t) {
    return stop({ErrorCode::invalid, "event: an extension type", {}});
  }
  bool start_array(std::uint32_t) { return other("a list") && enter(); }
  bool end_array() { return leave(); }
  bool visit_positive_integer(std::uint64_t value);
  bool visit_str(const char* data, std::uint32_t size);
  bool visit_bin(const char* data, std::uint32_t size);
  bool start_map(std::uint32_t pairs);
  bool end_map();
  bool start_map_key() {
    in_key_ = true;
    return true;
  }
  bool end_map_key() {
    in_key_ = false;
    return true;
  }
  bool start_array_item() { return true; }
  bool end_array_item() { return true; }
  bool start_map_value() { return true; }
  bool end_map_value() { return true; }
  void parse_error(std::size_t, std::size_t) {
    stop({ErrorCode::invalid, "event: a byte that starts no value", {}});
  }
  void insufficient_bytes(std::size_t, std::size_t) {}

  /// The refusal that stopped the parser, if one did.
  [[nodiscard]] std::optional<Error>& error() { return error_; }
  /// What was read. Complete only after `finish` was successful.
  [[nodiscard]] EventView& view() { return view_; }
  /// Judges the event as a whole. Pre: the parser went through it, and `size` bytes are it.
  [[nodiscard]] Status finish(std::size_t size);

 private:
  bool stop(Error error) {
    if (!error_) error_ = std::move(error).with("offset", static_cast<std::uint64_t>(at_ - begin_));
    return false;
  }
  bool judge(Status status) { return status ? true : stop(std::move(status.error())); }
  /// A value of a kind that no known field has.
  bool other(std::string_view kind);
  bool not_shortest() { return stop({ErrorCode::invalid, "event: not in the shortest form", {}}); }
  bool enter();
  bool leave() {
    --depth_;
    return true;
  }

  bool take_key(std::string_view key);
  bool take_text(std::string_view text);
  bool take_location_text(std::string_view text);
  bool take_durable_key(std::string_view key);
  bool take_durable_number(std::uint64_t value);
  bool start_event(std::uint32_t pairs);
  bool start_location(std::uint32_t pairs);
  bool start_durable(std::uint32_t pairs);
  [[nodiscard]] unsigned char mark() const { return static_cast<unsigned char>(*at_); }
  [[nodiscard]] std::string_view name() const;
  /// True where a uint64 in its 9 bytes begins here.
  [[nodiscard]] bool fixed_uint() const { return mark() == mark_uint64; }
  [[nodiscard]] bool shortest_uint(std::uint64_t value) const;
  [[nodiscard]] bool shortest_map(std::uint32_t pairs) const;

  const char* begin_;
  const char* at_;  ///< Where the next value begins; stays at the first unknown key.
  std::size_t depth_ = 0;
  EventField field_ = EventField::unknown;  ///< The one that is being read.
  std::size_t next_ = 0;                    ///< The first field that may still come.
  bool in_key_ = false;
  bool in_unknown_ = false;
  bool version_read_ = false;
  std::string_view location_key_{};
  const char* location_begin_ = nullptr;
  EventView view_{};
  std::optional<Error> error_{};
};

}  // namespace runwire::wire
