#include "bus/client/batch.hpp"

#include "codec/wire/event_codec.hpp"

#include <algorithm>
#include <utility>

namespace runwire::client {
namespace {

/// The position of the durable event number `index` of a message.
Position position_of(const wire::Span& span, std::size_t index) {
  if (!span.positions.empty()) return span.positions[index];
  return Position{span.first.value + index};
}

std::size_t durable_count(const wire::Span& span) {
  if (!span.positions.empty()) return span.positions.size();
  return span.first.value == 0 ? 0
                               : static_cast<std::size_t>(span.last.value - span.first.value + 1);
}

bool is_durable(const EventView& event) {
  return event.durable.has_value();
}

}  // namespace

Result<Batch> make_batch(bus::Frame frame,
                         const wire::Span& span,
                         bool whole_log,
                         std::uint64_t prev) {
  Batch batch;
  batch.frame = std::move(frame);
  batch.prev = prev;
  Result<std::vector<EventView>> events = wire::decode_events(batch.frame.view());
  if (!events) return fail(events.error());
  batch.events = std::move(*events);
  const auto durable = static_cast<std::size_t>(std::ranges::count_if(batch.events, is_durable));
  if (batch.events.size() != span.count || durable != durable_count(span)) {
    return fail(ErrorCode::invalid, "message: the header counts other events than there are");
  }
  std::size_t index = 0;
  std::uint64_t place = prev;
  for (const EventView& event : batch.events) {
    if (!event.durable) {
      batch.places.push_back(0);
      batch.positions.push_back(Position{});
      continue;
    }
    const Position position = position_of(span, index++);
    const std::uint64_t here = whole_log ? position.value : event.durable->seq.value;
    if (here != ++place)
      return fail(ErrorCode::invalid, "message: a place is missing between its events");
    batch.places.push_back(here);
    batch.positions.push_back(position);
  }
  return batch;
}

}  // namespace runwire::client
