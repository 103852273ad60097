#include "codec/wire/messages.hpp"
#include "codec/wire/parts.hpp"

#include <utility>

namespace runwire::wire {
namespace {

std::string_view kind_name(Delivery::Kind kind) {
  switch (kind) {
    case Delivery::Kind::deliver:
      return "deliver";
    case Delivery::Kind::heartbeat:
      return "heartbeat";
    case Delivery::Kind::fenced:
      return "fenced";
  }
  return "";
}

Delivery::Kind read_kind(Fields& in) {
  const std::string_view kind = in.text("kind", op_bytes_max);
  if (kind == "deliver") return Delivery::Kind::deliver;
  if (kind == "heartbeat") return Delivery::Kind::heartbeat;
  if (kind != "fenced" && in.sound()) {
    in.refuse(ErrorCode::unsupported, "kind", "unknown: " + std::string(kind));
  }
  return Delivery::Kind::fenced;
}

}  // namespace

Bytes encode(const Delivery& delivery) {
  Bytes out;
  Writer writer(out);
  {
    Writer::Map map(writer);
    map.number("v", protocol_major);
    map.text("kind", kind_name(delivery.kind));
    map.text("observer", delivery.observer);
    map.binary("log", delivery.log.view());
    map.number("term", delivery.term.value);
    map.number("epoch", delivery.epoch.value);
    switch (delivery.kind) {
      case Delivery::Kind::deliver:
        write_span(map, delivery.span);
        map.boolean("again", delivery.again);
        if (delivery.prev) map.number("prev", delivery.prev->value);
        break;
      case Delivery::Kind::heartbeat:
        map.number("acked", delivery.acked.value);
        break;
      case Delivery::Kind::fenced:
        map.number("current", delivery.current.value);
        break;
    }
  }
  return out;
}

Result<Delivery> decode_delivery(ByteView frame) {
  return decode_with<Delivery>(frame, [](Fields& in) {
    Delivery delivery;
    delivery.kind = read_kind(in);
    delivery.observer = read_observer(in);
    delivery.log = in.id<LogId>("log");
    delivery.term = Term{in.number("term")};
    delivery.epoch = Epoch{in.number("epoch")};
    if (!in.sound()) return delivery;
    switch (delivery.kind) {
      case Delivery::Kind::deliver:
        delivery.span = read_span(in);
        delivery.again = in.boolean_or("again", false);
        if (const auto prev = in.maybe_number("prev")) delivery.prev = Position{*prev};
        break;
      case Delivery::Kind::heartbeat:
        delivery.acked = Position{in.number("acked")};
        break;
      case Delivery::Kind::fenced:
        delivery.current = Epoch{in.number("current")};
        break;
    }
    return delivery;
  });
}

Bytes encode(const Ack& ack) {
  Bytes out;
  Writer writer(out);
  {
    Writer::Map map(writer);
    map.number("v", protocol_major);
    map.text("observer", ack.observer);
    map.binary("log", ack.log.view());
    map.number("term", ack.term.value);
    map.number("epoch", ack.epoch.value);
    map.number(ack.refused ? "nack" : "acked", ack.position.value);
    if (ack.refused) map.text("reason", sentence(ack.reason, limits::reason_bytes_max));
  }
  return out;
}

Result<Ack> decode_ack(ByteView frame) {
  return decode_with<Ack>(frame, [](Fields& in) {
    Ack ack;
    ack.observer = read_observer(in);
    ack.log = in.id<LogId>("log");
    ack.term = Term{in.number("term")};
    ack.epoch = Epoch{in.number("epoch")};
    const auto acked = in.maybe_number("acked");
    const auto nack = in.maybe_number("nack", {1});
    if (acked.has_value() == nack.has_value()) {
      in.refuse(ErrorCode::invalid, "acked", "wants either this or `nack`");
    }
    ack.refused = nack.has_value();
    ack.position = Position{nack ? *nack : acked.value_or(0)};
    if (ack.refused) ack.reason = in.text_or("reason", limits::reason_bytes_max);
    return ack;
  });
}

}  // namespace runwire::wire
