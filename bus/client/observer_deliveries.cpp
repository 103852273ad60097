#include "bus/client/bounds.hpp"
#include "bus/client/link_observer.hpp"
#include "bus/client/passing.hpp"

#include <algorithm>
#include <utility>

namespace runwire::client {

Status LinkObserver::read_behind(Instant now) {
  heard_at_ = now;  // What comes meanwhile waits in its socket.
  if (reading_ || now < retry_at_) return {};
  wire::Read read;
  read.after = cursor_.handed().value;
  read.level = wire::Level::committed;
  read.max_events =
      std::min<std::uint64_t>(cursor_.behind().value - read.after, limits::page_events_max);
  read.log = log_;
  const Result<std::uint64_t> rid = link_->submit(std::move(read), Link::Channel::work);
  if (!rid) return fail(rid.error());
  reading_ = *rid;
  return {};
}

void LinkObserver::on_page(Answered& answered, Instant now) {
  retry_at_ = now + bounds::retry_first;
  const std::optional<Error>& error = answered.reply.error;
  if (error && passes(error->code)) return;
  const auto* page = std::get_if<wire::PageReply>(&answered.reply.answer);
  if (error || page == nullptr) {
    static_cast<void>(
        fail_for_ever(error ? *error : Error{ErrorCode::invalid, "read: no page", {}}));
    return;
  }
  if (page->span.count == 0 || page->span.first != runwire::next(cursor_.handed())) return;
  Result<Batch> batch =
      make_batch(std::move(answered.events), page->span, true, cursor_.handed().value);
  if (!batch) {
    static_cast<void>(fail_for_ever(batch.error()));
    return;
  }
  retry_at_ = now;
  ready_ = hand_out(std::move(*batch), cursor_.handed(), page->span.first, page->span.last);
}

Status LinkObserver::receive(Instant now) {
  bus::Message message;
  for (int count = 0; count < bounds::deliveries_per_turn_max && !ready_; ++count) {
    const Result<bool> got = deliver_->try_receive(message);
    if (!got) return fail(got.error());
    if (!*got) {
      judge_silence(now);
      return {};
    }
    heard_at_ = now;
    if (Status taken = on_delivery(message, now); !taken) return taken;
    if (!deliver_) return {};
  }
  return {};
}

Status LinkObserver::on_delivery(bus::Message& message, Instant now) {
  if (message.empty() || message.size() > 2)
    return {};  // Nothing of the protocol; unacked, it comes again.
  Result<wire::Delivery> delivery = wire::decode_delivery(message[0].view());
  if (!delivery) return fail_for_ever(delivery.error());
  // A server that was started anew gives out the endpoints of its earlier life: nobody else is
  // meant.
  if (delivery->log == log_ && delivery->term != term_) {
    lose(now);
    return {};
  }
  const bool ours = delivery->observer == options_.name && delivery->log == log_ &&
                    delivery->epoch == attach_.epoch;
  if (!ours || delivery->kind == wire::Delivery::Kind::fenced) {
    const Epoch current =
        delivery->kind == wire::Delivery::Kind::fenced ? delivery->current : delivery->epoch;
    return fail_for_ever(
        Error{ErrorCode::fenced, "another consumer holds this observer's name; this one stops", {}}
            .with("observer", options_.name)
            .with("epoch", attach_.epoch.value)
            .with("current", current.value));
  }
  if (delivery->kind != wire::Delivery::Kind::deliver || message.size() != 2) return {};
  const wire::Span& span = delivery->span;
  if (span.first.value == 0)
    return fail_for_ever({ErrorCode::invalid, "delivery: no position", {}});
  Result<Batch> batch = make_batch(std::move(message[1]), span, true, span.first.value - 1);
  if (!batch) return fail_for_ever(batch.error());
  const Position prev = delivery->prev.value_or(Position{span.first.value - 1});
  ready_ = hand_out(std::move(*batch), prev, span.first, span.last);
  return {};
}

std::optional<Owed> LinkObserver::hand_out(Batch batch,
                                           Position prev,
                                           Position first,
                                           Position last) {
  const std::optional<std::size_t> known = cursor_.came(prev, first, last);
  if (!known) return std::nullopt;
  current_ = std::move(batch);
  const auto skip = static_cast<std::ptrdiff_t>(*known);
  Owed owed;
  owed.first = Position{first.value + *known};
  owed.last = last;
  owed.events.assign(current_.events.begin() + skip, current_.events.end());
  owed.positions.assign(current_.positions.begin() + skip, current_.positions.end());
  return owed;
}

void LinkObserver::judge_silence(Instant now) {
  if (now - heard_at_ <= limits::heartbeat * limits::heartbeats_missed_max) return;
  lose(now);
  link_->restart();
}

Status LinkObserver::ack(Position position) {
  if (Status good = check(); !good) return good;
  if (!cursor_.ack(position)) {
    return fail(Error{ErrorCode::invalid, "ack: this position was not handed out", {}}
                    .with("position", position.value)
                    .with("handed", cursor_.handed().value));
  }
  send_ack();
  return {};
}

Status LinkObserver::refuse(Position position, const std::string& reason) {
  if (Status good = check(); !good) return good;
  if (!cursor_.refuse(position)) {
    return fail(
        Error{ErrorCode::invalid, "refuse: this position was not handed out, or is acked", {}}
            .with("position", position.value)
            .with("acked", cursor_.acked().value)
            .with("handed", cursor_.handed().value));
  }
  // Where it is not taken, the deadline brings the event again all the same.
  if (cursor_.is_behind() || !send(position, true, reason)) return {};
  cursor_.ack_sent(Position{position.value - 1});
  return {};
}

void LinkObserver::send_ack() {
  const std::optional<Position> due = cursor_.ack_due();
  if (due && send(*due, false, {})) cursor_.ack_sent(*due);
}

bool LinkObserver::send(Position position, bool refused, const std::string& reason) {
  if (!acks_) return false;
  wire::Ack ack;
  ack.observer = options_.name;
  ack.log = log();
  ack.term = term_;
  ack.epoch = attach_.epoch;
  ack.position = position;
  ack.refused = refused;
  ack.reason = reason;
  bus::Message message;
  message.emplace_back(wire::encode(ack));
  const Result<bus::Sent> sent = acks_->try_send(message);
  return sent && *sent == bus::Sent::yes;
}

}  // namespace runwire::client
