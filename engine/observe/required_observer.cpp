#include "engine/observe/required_observer.hpp"

#include <algorithm>
#include <utility>

namespace runwire {

RequiredObserver::RequiredObserver(std::string name,
                                   Position acked,
                                   Position gates_from,
                                   ObserverBounds bounds)
    : name_(std::move(name)),
      bounds_(bounds),
      gates_from_(gates_from),
      acked_(acked),
      sent_(acked),
      handled_(acked),
      prev_(acked),
      sent_most_(acked) {}

Epoch RequiredObserver::attach() {
  epoch_ = next(epoch_);
  attached_ = true;
  sent_most_ = handled_ = acked_;
  retry_at_.reset();
  send_again_from_ack();
  return epoch_;
}

void RequiredObserver::detach(Epoch epoch) {
  if (epoch != epoch_) return;
  attached_ = false;
  send_again_from_ack();
}

void RequiredObserver::send_again_from_ack() {
  sent_ = acked_;
  prev_ = handled_;
  flights_.clear();
  flight_events_ = 0;
  flight_bytes_ = 0;
}

Result<std::size_t> RequiredObserver::advance(Position limit,
                                              Instant now,
                                              const Backlog& backlog,
                                              ObserverSink& sink) {
  if (!attached_ || suspended_) return 0;
  if (retry_at_ && *retry_at_ > now) return 0;
  retry_at_.reset();
  if (!flights_.empty() && flights_.front().due <= now) {
    ++redeliveries_;
    send_again_from_ack();
  }
  std::size_t handed_over = 0;
  while (sent_ < limit && flight_events_ < bounds_.in_flight_events_max &&
         (flights_.empty() || flight_bytes_ < bounds_.in_flight_bytes_max)) {
    const PageBounds room{
        .events_max =
            std::min(limits::page_events_max, bounds_.in_flight_events_max - flight_events_),
        .bytes_max = std::min(limits::page_bytes_max, bounds_.in_flight_bytes_max - flight_bytes_)};
    auto page = backlog(sent_, limit, room);
    if (!page) return fail(std::move(page.error()));
    if (page->empty()) break;
    const Position last = page->entries.back().position;
    const Flight flight{
        last, page->entries.size(), page->events.size(), now + bounds_.ack_deadline};
    const bool again = page->entries.front().position <= sent_most_;
    sink.deliver({.observer = name_,
                  .epoch = epoch_,
                  .page = std::move(*page),
                  .again = again,
                  .prev = std::exchange(prev_, last)});
    flights_.push_back(flight);
    flight_events_ += flight.events;
    flight_bytes_ += flight.bytes;
    handed_over += flight.events;
    sent_ = last;
    sent_most_ = std::max(sent_most_, last);
  }
  return handed_over;
}

Status RequiredObserver::check_epoch(Epoch epoch) const {
  if (attached_ && epoch == epoch_) return {};
  return fail(Error{ErrorCode::fenced, "a newer consumer holds this observer's name", {}}
                  .with("observer", name_)
                  .with("epoch", epoch.value)
                  .with("current", epoch_.value));
}

Result<bool> RequiredObserver::ack(Epoch epoch, Position position) {
  if (auto status = check_epoch(epoch); !status) return fail(std::move(status.error()));
  if (position > sent_most_) {
    return fail(Error{ErrorCode::invalid, "ack of an event that was never delivered", {}}
                    .with("observer", name_)
                    .with("acked", position.value)
                    .with("delivered", sent_most_.value));
  }
  if (position <= acked_) return false;
  acked_ = handled_ = position;
  if (sent_ < acked_) sent_ = prev_ = acked_;
  land(position);
  retry_delay_ = retry_first;
  return true;
}

Result<bool> RequiredObserver::refuse(Epoch epoch, Position position, Instant now) {
  if (auto status = check_epoch(epoch); !status) return fail(std::move(status.error()));
  if (position > sent_most_ || position == Position{}) {
    return fail(Error{ErrorCode::invalid, "refusal of an event that was never delivered", {}}
                    .with("observer", name_)
                    .with("refused", position.value)
                    .with("delivered", sent_most_.value));
  }
  if (auto before = ack(epoch, Position{position.value - 1}); !before) return before;
  if (position <= acked_) return false;  // acked meanwhile: the refusal came too late
  ++refusals_;
  retry_at_ = now + retry_delay_;
  retry_delay_ = std::min(retry_delay_ * 2, retry_max);
  send_again_from_ack();
  refused_times_ = position == refused_ ? refused_times_ + 1 : 1;
  refused_ = position;
  if (bounds_.skip_after == 0 || refused_times_ < bounds_.skip_after) return false;
  refused_times_ = 0;  // Where the skip cannot be recorded, as many refusals ask for it again.
  return true;
}

bool RequiredObserver::skip(Position position) {
  if (position != next(acked_)) return false;
  acked_ = position;
  sent_ = std::max(sent_, acked_);
  sent_most_ = std::max(sent_most_, acked_);
  ++skipped_;
  retry_at_.reset();
  retry_delay_ = retry_first;
  return true;
}

void RequiredObserver::restore(std::uint64_t skipped, bool suspended) {
  skipped_ = skipped;
  suspended_ = suspended;
}

void RequiredObserver::suspend() {
  suspended_ = true;
  send_again_from_ack();
}

void RequiredObserver::resume(Position gates_from) {
  suspended_ = false;
  gates_from_ = std::max(gates_from_, gates_from);
  retry_at_.reset();
}

void RequiredObserver::land(Position upto) {
  while (!flights_.empty() && flights_.front().last <= upto) {
    flight_events_ -= flights_.front().events;
    flight_bytes_ -= flights_.front().bytes;
    flights_.pop_front();
  }
}

std::optional<Instant> RequiredObserver::next_due() const {
  if (!attached_ || suspended_) return std::nullopt;
  if (retry_at_) return retry_at_;
  if (!flights_.empty()) return flights_.front().due;
  return std::nullopt;
}

}  // namespace runwire
