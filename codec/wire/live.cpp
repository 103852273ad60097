#include "codec/wire/messages.hpp"
#include "codec/wire/parts.hpp"

namespace runwire::wire {
namespace {

std::string_view kind_name(Live::Kind kind) {
  switch (kind) {
    case Live::Kind::events:
      return "events";
    case Live::Kind::beacon:
      return "beacon";
    case Live::Kind::heartbeat:
      return "heartbeat";
  }
  return "";
}

Live::Kind read_kind(Fields& in) {
  const std::string_view kind = in.text("kind", op_bytes_max);
  if (kind == "events") return Live::Kind::events;
  if (kind == "beacon") return Live::Kind::beacon;
  if (kind != "heartbeat" && in.sound()) {
    in.refuse(ErrorCode::unsupported, "kind", "unknown: " + std::string(kind));
  }
  return Live::Kind::heartbeat;
}

void write_beacon(Writer::Map& map, const Live& live) {
  if (live.subject) map.text("subject", *live.subject);
  map.number("last", live.last);
  if (live.span.owner_term) map.number("owner_term", live.span.owner_term->value);
  if (live.span.origin) map.binary("origin", live.span.origin->view());
  map.text_unless_empty("state", live.state);
}

void read_beacon(Fields& in, Live& live) {
  if (in.find("subject")) live.subject = read_subject(in, "subject");
  live.last = in.number("last");
  if (const auto owner_term = in.maybe_number("owner_term"))
    live.span.owner_term = OwnerTerm{*owner_term};
  live.span.origin = in.maybe_id<LogId>("origin");
  live.state = in.text_or("state", state_bytes_max);
}

}  // namespace

Bytes encode(const Live& live) {
  Bytes out;
  Writer writer(out);
  {
    Writer::Map map(writer);
    map.number("v", protocol_major);
    map.text("kind", kind_name(live.kind));
    map.binary("log", live.log.view());
    map.number("term", live.term.value);
    map.number("n", live.counter);
    map.number("acknowledged", live.acknowledged.value);
    if (live.kind == Live::Kind::beacon) write_beacon(map, live);
    if (live.kind == Live::Kind::events) {
      if (live.subject) map.text("subject", *live.subject);
      write_span(map, live.span);
      map.number("prev", live.prev);
    }
  }
  return out;
}

Result<Live> decode_live(ByteView frame) {
  return decode_with<Live>(frame, [](Fields& in) {
    Live live;
    live.kind = read_kind(in);
    live.log = in.id<LogId>("log");
    live.term = Term{in.number("term")};
    live.counter = in.number("n");
    live.acknowledged = Position{in.number("acknowledged")};
    if (!in.sound()) return live;
    if (live.kind == Live::Kind::beacon) read_beacon(in, live);
    if (live.kind == Live::Kind::events) {
      if (in.find("subject")) live.subject = read_subject(in, "subject");
      live.span = read_span(in);
      live.prev = in.number("prev");
    }
    return live;
  });
}

}  // namespace runwire::wire
