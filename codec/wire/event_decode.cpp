#include "codec/base/limits.hpp"
#include "codec/wire/event_codec.hpp"
#include "codec/wire/event_visitor.hpp"

#include <msgpack.hpp>

#include <utility>

namespace runwire::wire {
namespace {

/// Copies the entries of a location that a decoder has judged.
class LocationVisitor : public msgpack::null_visitor {
 public:
  explicit LocationVisitor(Location& location) : location_(location) {}

  bool start_map(std::uint32_t pairs) { return pairs <= limits::location_entries_max; }
  bool start_map_key() {
    in_key_ = true;
    return true;
  }
  bool end_map_key() {
    in_key_ = false;
    return true;
  }
  bool visit_str(const char* data, std::uint32_t size) {
    const std::string_view text(data, size);
    if (in_key_) {
      location_.emplace_back(text, std::string());
      return true;
    }
    if (location_.empty()) return false;
    location_.back().second = text;
    return true;
  }

 private:
  Location& location_;
  bool in_key_ = false;
};

Result<Location> to_location(ByteView map) {
  Location location;
  if (map.empty()) return location;
  LocationVisitor visitor(location);
  const std::string_view text = as_text(map);
  std::size_t offset = 0;
  try {
    if (msgpack::parse(text.data(), text.size(), offset, visitor) && offset == text.size()) {
      return location;
    }
  } catch (const std::exception&) {
    // Falls through: what cannot be parsed was not a location.
  }
  return fail(ErrorCode::invalid, "event.location: not a map of texts");
}

}  // namespace

Result<EventView> decode_event(ByteView frame, std::size_t& offset) {
  if (offset >= frame.size()) return fail(ErrorCode::invalid, "event: truncated");
  const std::string_view rest = as_text(frame.subspan(offset));
  const std::string_view seen = rest.substr(0, limits::event_bytes_max);
  EventVisitor visitor(seen.data());
  std::size_t size = 0;
  bool whole = false;
  try {
    whole = msgpack::parse(seen.data(), seen.size(), size, visitor);
  } catch (const std::exception& failure) {
    return fail(ErrorCode::invalid, std::string("event: ") + failure.what());
  }
  if (visitor.error()) return fail(std::move(*visitor.error()));
  if (!whole && seen.size() < rest.size()) {
    return fail(Error{ErrorCode::too_large, "event: over its bound", {}}.with(
        "limit", limits::event_bytes_max));
  }
  if (!whole) return fail(ErrorCode::invalid, "event: truncated");
  if (auto status = visitor.finish(size); !status) return fail(std::move(status.error()));
  offset += size;
  return visitor.view();
}

Result<std::vector<EventView>> decode_events(ByteView frame) {
  if (frame.size() > limits::message_bytes_max) {
    return fail(Error{ErrorCode::too_large, "events: over the bytes of one message", {}}.with(
        "limit", limits::message_bytes_max));
  }
  std::vector<EventView> events;
  std::size_t offset = 0;
  while (offset < frame.size()) {
    auto event = decode_event(frame, offset);
    if (!event) return fail(std::move(event.error()).with("event", events.size()));
    events.push_back(*event);
  }
  return events;
}

Result<Event> to_event(const EventView& view) {
  auto location = to_location(view.location);
  if (!location) return fail(std::move(location.error()));
  return Event{.id = view.id,
               .type = std::string(view.type),
               .time = view.time,
               .location = std::move(*location),
               .subject = std::string(view.subject),
               .durable = view.durable,
               .data = std::string(view.data),
               .unknown = Bytes(view.unknown.begin(), view.unknown.end())};
}

}  // namespace runwire::wire
