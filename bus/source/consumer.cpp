#include "bus/source/consumer.hpp"

#include "bus/source/bounds.hpp"
#include "bus/source/page_plan.hpp"
#include "codec/base/limits.hpp"

#include <algorithm>

namespace runwire::bus {

Result<Consumer> Consumer::open(Context& context,
                                const std::string& endpoint,
                                const LogIdentity& identity,
                                Attachment attachment) {
  auto socket =
      Socket::open(context,
                   SocketKind::push,
                   {.send_queue_max = bounds::push_queue_messages_max, .linger = bounds::linger});
  if (!socket) return fail(std::move(socket.error()));
  if (auto bound = socket->bind(endpoint); !bound) return fail(std::move(bound.error()));
  auto where = socket->bound_endpoint();
  if (!where) return fail(std::move(where.error()));
  return Consumer(std::move(*socket), std::move(*where), identity, std::move(attachment));
}

wire::Delivery Consumer::header(wire::Delivery::Kind kind) const {
  return {.kind = kind,
          .observer = attachment_.observer,
          .log = identity_.log,
          .term = identity_.term,
          .epoch = attachment_.epoch};
}

void Consumer::deliver(ObserverDelivery&& delivery, ObserverCounters& counters) {
  if (delivery.page.empty()) return;
  const Position first = delivery.page.entries.front().position;
  while (!waiting_.empty() && waiting_.back().first >= first) {
    waiting_.pop_back();
    counters.superseded.add();
  }
  wire::Delivery head = header(wire::Delivery::Kind::deliver);
  fill_span(head.span, delivery.page);
  head.again = delivery.again;
  if (next(delivery.prev) != first) head.prev = delivery.prev;
  Message message;
  message.emplace_back(wire::encode(head));
  message.emplace_back(std::move(delivery.page.events));
  waiting_.push_back({.first = first,
                      .last = delivery.page.entries.back().position,
                      .message = std::move(message)});
}

std::size_t Consumer::turn(Instant now, ObserverCounters& counters) {
  std::size_t sent = 0;
  while (!waiting_.empty()) {
    const auto done = socket_.try_send(waiting_.front().message);
    if (done && *done == Sent::would_block) break;
    // A failed send loses nothing: it is unacked, and comes again at its deadline.
    if (done) sent_ = std::max(sent_, waiting_.front().last);
    waiting_.pop_front();
    counters.deliveries.add();
    ++sent;
  }
  if (sent > 0) heartbeat_at_ = now + limits::heartbeat;
  if (now < heartbeat_at_) return sent;
  heartbeat_at_ = now + limits::heartbeat;
  wire::Delivery beat = header(wire::Delivery::Kind::heartbeat);
  beat.acked = attachment_.acked;
  if (send_one(std::move(beat))) ++sent;
  return sent;
}

bool Consumer::tell_fenced(Epoch current) {
  waiting_.clear();
  wire::Delivery fenced = header(wire::Delivery::Kind::fenced);
  fenced.current = current;
  return send_one(std::move(fenced));
}

void Consumer::heard(Position acked) {
  attachment_.acked = std::max(attachment_.acked, std::min(acked, sent_));
}

bool Consumer::send_one(wire::Delivery&& delivery) {
  Message message;
  message.emplace_back(wire::encode(delivery));
  const auto sent = socket_.try_send(message);
  return sent && *sent == Sent::yes;
}

}  // namespace runwire::bus
