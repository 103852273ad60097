#include "bus/client/join.hpp"

#include "bus/client/bounds.hpp"
#include "codec/wire/event_codec.hpp"

#include <utility>

namespace runwire::client {

Join::Join(Options options)
    : options_(std::move(options)),
      history_({.subject = options_.subject,
                .level = options_.level,
                .outstanding_max = bounds::reads_outstanding_max,
                .wait_ms = static_cast<std::uint64_t>(bounds::read_wait.count())}),
      cursor_(options_.after),
      restart_("not connected yet") {}

bool Join::wants_live() const {
  return options_.follow && options_.level == wire::Level::acknowledged;
}

// ---- What it is told
// ------------------------------------------------------------------------------

void Join::start(const LogId& log, Term term) {
  if (failure_ || phase_ == Phase::ended || !same_log(log)) return;
  if (started_) {
    ++counters_.resumes;
    ready_.emplace_back(Resumed{cursor_, restart_.value_or("connected again")});
  }
  started_ = true;
  term_ = term;
  restart_.reset();
  drop_buffer();
  caught_up_ = false;
  wait_ = false;
  counter_.reset();
  hole_at_.reset();
  history_.start(cursor_);
  phase_ = wants_live() ? Phase::joining : Phase::reading;
}

void Join::lost(const std::string& reason) {
  if (failure_ || restart_ || phase_ == Phase::ended) return;
  restart_ = reason;
  history_.start(cursor_);
}

void Join::fail_with(Error error) {
  if (!failure_) failure_ = std::move(error);
  drop_buffer();
}

std::optional<wire::Read> Join::want() const {
  if (phase_ != Phase::reading || restart_ || failure_) return std::nullopt;
  std::optional<wire::Read> read = history_.want(wait_);
  if (read) read->log = options_.log;
  return read;
}

void Join::page(
    std::uint64_t rid, const LogId& log, Term term, wire::PageReply reply, bus::Frame events) {
  const std::optional<std::uint64_t> after = history_.after_of(rid);
  if (!after || !current(log, term)) return;
  Batch batch;
  if (reply.span.count > 0) {
    Result<Batch> made = make_batch(std::move(events), reply.span, whole_log(), *after);
    if (!made) return fail_with(std::move(made.error()));
    batch = std::move(*made);
  }
  const std::uint64_t last = batch.places.empty() ? *after : batch.places.back();
  if (reply.next != last) {
    return fail_with(Error{ErrorCode::corrupt, "a page goes on elsewhere than it ends", {}}
                         .with("last", last)
                         .with("next", reply.next));
  }
  history_.came(rid, std::move(reply), std::move(batch));
  read_on();
}

void Join::live(const wire::Live& message, bus::Frame events) {
  if (phase_ == Phase::ended || !current(message.log, message.term)) return;
  if (message.kind == wire::Live::Kind::beacon) on_beacon(message);
  if (message.kind == wire::Live::Kind::events) on_events(message, std::move(events));
}

void Join::on_beacon(const wire::Live& message) {
  counter_ = message.counter;
  if (phase_ == Phase::joining) {
    phase_ = Phase::reading;
    return;
  }
  keep(Beacon{message.last});
  if (phase_ == Phase::live) drain();
}

void Join::on_events(const wire::Live& message, bus::Frame events) {
  Result<Batch> batch = make_batch(std::move(events), message.span, whole_log(), message.prev);
  if (!batch) return;  // As if it had not come: the next message shows the hole.
  const bool stale = is_stale(message.counter);
  keep(Walk{.batch = std::move(*batch), .place = message.prev, .index = 0, .stale = stale});
  if (phase_ == Phase::live) drain();
}

bool Join::is_stale(std::uint64_t counter) {
  if (counter_ && counter <= *counter_) return true;
  if (counter_) counters_.messages_missed += counter - *counter_ - 1;
  counter_ = counter;
  return false;
}

std::optional<Item> Join::take() {
  if (ready_.empty()) return std::nullopt;
  Item item = std::move(ready_.front());
  ready_.pop_front();
  return item;
}

// ---- How it is decided
// ----------------------------------------------------------------------------

bool Join::current(const LogId& log, Term term) {
  if (failure_ || restart_ || !same_log(log)) return false;
  if (term < term_) return false;
  if (term == term_) return true;
  term_ = term;
  // Reads alone need no subscription, and the cursor holds over terms.
  if (!wants_live()) return true;
  lost("the server was restarted");
  return false;
}

bool Join::same_log(const LogId& log) {
  if (!options_.log) options_.log = log;
  if (*options_.log == log) return true;
  fail_with(Error{
      ErrorCode::cursor_foreign, "the cursor belongs to another log than the one served here", {}}
                .with("requested_log", to_string(*options_.log))
                .with("log", to_string(log)));
  return false;
}

void Join::read_on() {
  while (phase_ == Phase::reading && !failure_) {
    const std::optional<History::Page> page = history_.pop();
    if (!page || !hand_on_page(*page)) return;
  }
}

/// True where more pages may follow.
bool Join::hand_on_page(const History::Page& page) {
  for (std::size_t index = 0; index < page.batch.events.size(); ++index) {
    if (!page.batch.events[index].durable) {
      fail_with({ErrorCode::corrupt, "a page holds an ephemeral event", {}});
      return false;
    }
    hand_on_durable(page.batch, index);
  }
  // An empty page that is not the end lies before what is acknowledged: there is nothing to ask
  // now.
  wait_ = page.batch.events.empty();
  if (page.reply.end) history_ended();
  return phase_ == Phase::reading;
}

void Join::history_ended() {
  if (!options_.follow) {
    phase_ = Phase::ended;
    ready_.emplace_back(Ended{cursor_});
    return;
  }
  wait_ = true;
  if (!wants_live()) return caught_up();
  phase_ = Phase::live;
  if (drain()) caught_up();
}

void Join::caught_up() {
  if (!std::exchange(caught_up_, true)) ready_.emplace_back(CaughtUp{cursor_});
}

void Join::keep(Kept kept) {
  const auto* walk = std::get_if<Walk>(&kept);
  const std::size_t bytes = walk != nullptr ? walk->batch.bytes() : sizeof(Beacon);
  if (buffer_.size() >= options_.buffer_messages_max ||
      buffer_bytes_ + bytes > options_.buffer_bytes_max) {
    drop_buffer();  // What is kept now shows the hole, and is taken after it was read.
  }
  buffer_.push_back(std::move(kept));
  buffer_bytes_ += bytes;
}

void Join::drop_buffer() {
  buffer_.clear();
  buffer_bytes_ = 0;
}

/// Takes what is kept, in order. False when something is missing: then it reads (rules 2 and 4).
bool Join::drain() {
  while (!buffer_.empty()) {
    bool complete = true;
    bool done = true;
    std::size_t bytes = sizeof(Beacon);
    if (const auto* beacon = std::get_if<Beacon>(&buffer_.front())) {
      complete = beacon->last <= cursor_;  // A read answers it: it says nothing more afterwards.
    } else {
      Walk& front = std::get<Walk>(buffer_.front());
      bytes = front.batch.bytes();
      complete = done = walk(front);
    }
    if (done) {
      buffer_.pop_front();
      buffer_bytes_ -= bytes;
    }
    if (!complete) {
      read_again();
      return false;
    }
  }
  return true;
}

/// Takes a message as far as nothing is missing. True when it is done.
bool Join::walk(Walk& walk) {
  if (walk.place > cursor_) return false;
  for (; walk.index < walk.batch.events.size(); ++walk.index) {
    if (!walk.batch.events[walk.index].durable) {
      hand_on_ephemeral(walk);
      continue;
    }
    walk.place = walk.batch.places[walk.index];
    hand_on_durable(walk.batch, walk.index);
  }
  return true;
}

void Join::read_again() {
  ++counters_.holes_healed;
  // The second read for the same hole waits for news instead of asking again and again.
  wait_ = hole_at_ == cursor_;
  hole_at_ = cursor_;
  history_.start(cursor_);
  phase_ = Phase::reading;
}

void Join::hand_on_durable(const Batch& batch, std::size_t index) {
  if (batch.places[index] <= cursor_) {
    ++counters_.repeats_dropped;
    return;
  }
  cursor_ = batch.places[index];
  ++counters_.durable;
  hand_on(batch.events[index], batch.positions[index]);
}

void Join::hand_on_ephemeral(const Walk& walk) {
  if (walk.stale || walk.place != cursor_) {
    ++counters_.late_dropped;
  } else if (options_.ephemeral) {
    ++counters_.ephemeral;
    hand_on(walk.batch.events[walk.index], {});
  }
}

void Join::hand_on(const EventView& view, Position position) {
  Result<Event> event = wire::to_event(view);
  if (!event) return fail_with(std::move(event.error()));
  ready_.emplace_back(
      Heard{std::move(*event), Bytes(view.encoded.begin(), view.encoded.end()), position});
}

}  // namespace runwire::client
