#include "codec/wire/event_visitor.hpp"

#include "codec/base/limits.hpp"
#include "codec/event/types.hpp"
#include "codec/wire/event_rules.hpp"
#include "codec/wire/unknown_fields.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace runwire::wire {
namespace {

constexpr std::size_t id_bytes = 16;
constexpr std::size_t id_header_bytes = 2;

/// A field that may be absent; the other three before `data` may not.
constexpr bool optional_field(std::size_t field) {
  return field >= static_cast<std::size_t>(EventField::location) &&
         field <= static_cast<std::size_t>(EventField::durable);
}

}  // namespace

std::string_view EventVisitor::name() const {
  return depth_ == 0 || field_ == EventField::unknown ? "map" : key_of(field_);
}

bool EventVisitor::other(std::string_view kind) {
  if (in_unknown_) return true;
  if (in_key_) return stop({ErrorCode::invalid, "event: a key that is no text", {}});
  return stop(bad_field(name(), std::string(kind) + " is not expected here"));
}

bool EventVisitor::enter() {
  if (depth_ >= limits::depth_max) {
    return stop(
        Error{ErrorCode::too_large, "event: nested too deep", {}}.with("limit", limits::depth_max));
  }
  ++depth_;
  return true;
}

bool EventVisitor::shortest_uint(std::uint64_t value) const {
  if (value < 128) return mark() == value;
  if (value < 256) return mark() == mark_uint8;
  if (value < 65536) return mark() == mark_uint16;
  return value <= 0xffff'ffffU ? mark() == mark_uint32 : mark() == mark_uint64;
}

bool EventVisitor::shortest_map(std::uint32_t pairs) const {
  if (pairs <= fixmap_pairs_max) return mark() == (mark_fixmap | pairs);
  return mark() == mark_map16;
}

bool EventVisitor::visit_positive_integer(std::uint64_t value) {
  if (in_unknown_) return true;
  if (depth_ == 2 && field_ == EventField::durable && !in_key_) return take_durable_number(value);
  if (depth_ != 1 || field_ != EventField::time || in_key_) return other("an integer");
  if (!fixed_uint()) return stop(bad_field("time", "must have 9 bytes"));
  if (!judge(check_number("time", value))) return false;
  view_.time = value;
  at_ += fixed_uint_bytes;
  return true;
}

bool EventVisitor::take_durable_number(std::uint64_t value) {
  if (!version_read_) {
    if (!judge(check_version(value))) return false;
    if (!shortest_uint(value)) return not_shortest();
    view_.durable->version = static_cast<std::uint32_t>(value);
    at_ += uint_bytes(value);
    version_read_ = true;
    return true;
  }
  if (!fixed_uint()) return stop(bad_field("durable.seq", "must have 9 bytes"));
  if (value == 0) return stop(bad_field("durable.seq", "must be at least 1"));
  if (!judge(check_number("durable.seq", value))) return false;
  view_.durable->seq = Sequence{value};
  at_ += fixed_uint_bytes;
  return true;
}

bool EventVisitor::visit_bin(const char* data, std::uint32_t size) {
  if (in_unknown_) return true;
  if (depth_ != 1 || field_ != EventField::id || in_key_) return other("a bin");
  if (size != id_bytes) return stop(bad_field("id", "must have 16 bytes"));
  if (data != at_ + id_header_bytes) return not_shortest();
  std::memcpy(view_.id.bytes.data(), data, id_bytes);
  at_ += id_header_bytes + id_bytes;
  return true;
}

bool EventVisitor::visit_str(const char* data, std::uint32_t size) {
  if (in_unknown_) return true;
  // For an empty text the parser gives no useful pointer.
  const std::size_t header = str_header_bytes(size);
  const bool shortest = size == 0 ? mark() == mark_empty_str : data == at_ + header;
  if (!shortest) return not_shortest();
  const std::string_view text(at_ + header, size);
  const bool taken = in_key_ && depth_ == 1 ? take_key(text) : take_text(text);
  if (taken && !in_unknown_) at_ += header + size;
  return taken;
}

bool EventVisitor::take_key(std::string_view key) {
  field_ = event_field(key);
  const auto found = static_cast<std::size_t>(field_);
  if (field_ == EventField::unknown) {
    if (next_ < event_keys.size()) {
      return stop({ErrorCode::invalid, "event: an unknown field before `data`", {}});
    }
    in_unknown_ = true;
    return true;
  }
  if (found < next_) return stop(bad_field(key, "comes twice, or not in its place"));
  for (std::size_t skipped = next_; skipped < found; ++skipped) {
    if (!optional_field(skipped)) return stop(bad_field(event_keys.at(skipped), "is missing"));
  }
  next_ = found + 1;
  return true;
}

bool EventVisitor::take_text(std::string_view text) {
  if (depth_ == 2) {
    return field_ == EventField::location ? take_location_text(text) : take_durable_key(text);
  }
  if (depth_ != 1) return other("a text");
  switch (field_) {
    case EventField::type:
      view_.type = text;
      return judge(check_type(text));
    case EventField::subject:
      view_.subject = text;
      return judge(check_subject(text));
    case EventField::data:
      view_.data = text;
      return judge(check_data(text));
    default:
      return other("a text");
  }
}

bool EventVisitor::take_location_text(std::string_view text) {
  if (!in_key_) return judge(check_location_value(text));
  if (!judge(check_location_key(location_key_, text))) return false;
  location_key_ = text;
  return true;
}

bool EventVisitor::take_durable_key(std::string_view key) {
  if (!in_key_) return other("a text");
  if (key == (version_read_ ? seq_key : version_key)) return true;
  return stop(bad_field("durable", "must be `version`, then `seq`"));
}

bool EventVisitor::start_map(std::uint32_t pairs) {
  if (in_unknown_) return enter();
  if (in_key_ && depth_ > 0) return other("a map");
  if (depth_ == 0) return start_event(pairs);
  if (depth_ == 1 && field_ == EventField::location) return start_location(pairs);
  if (depth_ == 1 && field_ == EventField::durable) return start_durable(pairs);
  return other("a map");
}

bool EventVisitor::start_event(std::uint32_t pairs) {
  // Each unknown pair has at least two bytes, so more than this cannot be there.
  constexpr std::size_t pairs_max = event_keys.size() + limits::unknown_bytes_max / 2;
  if (pairs > pairs_max) return stop(large_field("map", pairs_max, pairs));
  if (!shortest_map(pairs)) return not_shortest();
  at_ += map_header_bytes(pairs);
  return enter();
}

bool EventVisitor::start_location(std::uint32_t pairs) {
  if (pairs == 0) return stop(bad_field("location", "empty; leave it out"));
  if (pairs > limits::location_entries_max) {
    return stop(large_field("location", limits::location_entries_max, pairs));
  }
  if (!shortest_map(pairs)) return not_shortest();
  location_begin_ = at_;
  at_ += map_header_bytes(pairs);
  return enter();
}

bool EventVisitor::start_durable(std::uint32_t pairs) {
  if (pairs != 2) return stop(bad_field("durable", "must be `version`, then `seq`"));
  if (!shortest_map(pairs)) return not_shortest();
  view_.durable.emplace();
  at_ += map_header_bytes(pairs);
  return enter();
}

bool EventVisitor::end_map() {
  if (depth_ == 2 && field_ == EventField::location && !in_unknown_) {
    view_.location = as_bytes({location_begin_, static_cast<std::size_t>(at_ - location_begin_)});
  }
  return leave();
}

Status EventVisitor::finish(std::size_t size) {
  if (next_ < event_keys.size()) {
    std::size_t missing = next_;
    while (optional_field(missing))
      ++missing;
    return fail(bad_field(event_keys.at(missing), "is missing"));
  }
  if (view_.durable && view_.subject.empty()) {
    return fail(bad_field("subject", "a durable event needs one"));
  }
  view_.encoded = as_bytes({begin_, size});
  if (!in_unknown_) return {};
  view_.unknown = view_.encoded.subspan(static_cast<std::size_t>(at_ - begin_));
  auto counted = count_unknown_fields(view_.unknown);
  if (!counted) return fail(std::move(counted.error()));
  return {};
}

}  // namespace runwire::wire
