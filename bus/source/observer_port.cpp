#include "bus/source/observer_port.hpp"

#include "bus/source/bounds.hpp"

#include <algorithm>
#include <utility>

namespace runwire::bus {

Result<ObserverPort> ObserverPort::open(Context& context, World world) {
  auto socket = Socket::open(
      context, SocketKind::pull, {.receive_queue_max = bounds::acks_queue_messages_max});
  if (!socket) return fail(std::move(socket.error()));
  if (auto bound = socket->bind(world.endpoints.acks()); !bound)
    return fail(std::move(bound.error()));
  auto where = socket->bound_endpoint();
  if (!where) return fail(std::move(where.error()));
  world.endpoints.remove_left_attaches();
  return ObserverPort(context, std::move(*socket), std::move(*where), std::move(world));
}

void ObserverPort::take(ObserverCommand&& command, Instant now) {
  std::visit([&](auto&& one) { handle(std::move(one), now); }, std::move(command));
}

void ObserverPort::handle(AttachCommand&& command, Instant now) {
  Attachment& attachment = command.attachment;
  const std::string name = attachment.observer;
  if (const auto older = consumers_.find(name); older != consumers_.end()) {
    retire(std::move(older->second), attachment.epoch, now);
    consumers_.erase(older);
  }
  wire::AttachReply reply{.observer = name,
                          .epoch = attachment.epoch,
                          .acks = acks_endpoint_,
                          .acked = attachment.acked,
                          .ack_deadline_ms = world_.ack_deadline_ms,
                          .max_in_flight = world_.in_flight_events_max};
  auto consumer = Consumer::open(*context_,
                                 world_.endpoints.attach(world_.identity.term, ++attaches_),
                                 world_.identity,
                                 std::move(attachment));
  if (!consumer) return command.respond({.answer = {}, .error = std::move(consumer.error())});
  reply.deliver = consumer->endpoint();
  consumers_.emplace(name, std::move(*consumer));
  world_.counters.attached.add();
  command.respond({.answer = std::move(reply), .error = {}});
}

void ObserverPort::handle(ObserverDelivery&& delivery, Instant) {
  const auto found = consumers_.find(delivery.observer);
  // One that was meant for an attach that has gone since: the next one gets it from the log.
  if (found == consumers_.end() || found->second.attachment().epoch != delivery.epoch) return;
  found->second.deliver(std::move(delivery), world_.counters);
}

void ObserverPort::handle(DetachCommand&& command, Instant) {
  const auto found = consumers_.find(command.observer);
  if (found == consumers_.end() || found->second.attachment().epoch != command.epoch) return;
  consumers_.erase(found);
}

void ObserverPort::handle(FencedCommand&& command, Instant now) {
  const auto found = fenced_.find(command.observer);
  if (found == fenced_.end()) return;
  for (Fenced& fenced : found->second) {
    if (fenced.consumer.attachment().epoch != command.stale) continue;
    fenced.current = command.current;
    fenced.told = fenced.consumer.tell_fenced(command.current);
    fenced.until = now + bounds::fenced_kept_for;
  }
}

void ObserverPort::retire(Consumer&& consumer, Epoch current, Instant now) {
  world_.counters.fenced.add();
  auto& older = fenced_[consumer.attachment().observer];
  for (Fenced& fenced : older) {
    fenced.current = current;
    fenced.told = false;
  }
  Fenced fenced{
      .consumer = std::move(consumer), .current = current, .until = now + bounds::fenced_kept_for};
  fenced.told = fenced.consumer.tell_fenced(current);
  older.push_back(std::move(fenced));
  if (older.size() > bounds::fenced_kept_max) older.pop_front();
}

std::size_t ObserverPort::take_acks(const std::function<void(wire::Ack&&)>& acknowledge) {
  Message message;
  std::size_t taken = 0;
  for (; taken < bounds::acks_per_turn_max; ++taken) {
    const auto received = acks_.try_receive(message);
    if (!received || !*received) break;
    auto ack = message.size() == 1 ? wire::decode_ack(message[0].view())
                                   : fail(ErrorCode::invalid, "frames");
    if (!ack) {
      world_.counters.acks_bad.add();
      continue;
    }
    world_.counters.acks.add();
    const auto found = consumers_.find(ack->observer);
    if (found != consumers_.end() && found->second.attachment().epoch == ack->epoch &&
        !ack->refused) {
      found->second.heard(ack->position);
    }
    acknowledge(std::move(*ack));
  }
  return taken;
}

std::size_t ObserverPort::turn(Instant now) {
  std::size_t sent = 0;
  for (auto& [name, consumer] : consumers_)
    sent += consumer.turn(now, world_.counters);
  for (auto entry = fenced_.begin(); entry != fenced_.end();) {
    auto& older = entry->second;
    std::erase_if(older, [&](const Fenced& fenced) { return fenced.until <= now; });
    for (Fenced& fenced : older) {
      if (!fenced.told) fenced.told = fenced.consumer.tell_fenced(fenced.current);
    }
    entry = older.empty() ? fenced_.erase(entry) : std::next(entry);
  }
  return sent;
}

Instant ObserverPort::next_due(Instant otherwise) const {
  for (const auto& [name, consumer] : consumers_)
    otherwise = std::min(otherwise, consumer.next_due());
  return otherwise;
}

void ObserverPort::add_waiting(std::vector<PollItem>& items) const {
  for (const auto& [name, consumer] : consumers_) {
    if (!consumer.waits()) continue;
    items.push_back({.socket = &consumer.socket(), .want_write = true, .want_read = false});
  }
  for (const auto& [name, older] : fenced_) {
    for (const Fenced& fenced : older) {
      if (fenced.told) continue;
      items.push_back(
          {.socket = &fenced.consumer.socket(), .want_write = true, .want_read = false});
    }
  }
}

}  // namespace runwire::bus
