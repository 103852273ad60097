#include "engine/subscribe/subscription.hpp"

#include <algorithm>
#include <utility>

namespace runwire {

Subscription::Subscription(const Engine& engine, BestEffortSet& set, SubscriptionOptions options)
    : engine_(engine), set_(set), options_(std::move(options)), cursor_(options_.after) {}

Subscription::~Subscription() {
  set_.remove(*this);
}

Result<std::unique_ptr<Subscription>> Subscription::open(const Engine& engine,
                                                         BestEffortSet& set,
                                                         SubscriptionOptions options) {
  std::unique_ptr<Subscription> subscription(new Subscription(engine, set, std::move(options)));
  if (!set.add(*subscription)) {
    return fail(Error{ErrorCode::backpressure, "too many subscriptions in this process", {}}.with(
        "limit", BestEffortSet::members_max));
  }
  if (auto status = subscription->check_cursor(); !status) return fail(std::move(status.error()));
  auto first = subscription->read_history();
  if (!first) return fail(std::move(first.error()));
  return subscription;
}

std::uint64_t Subscription::place_of(Position position, Sequence seq) const {
  return options_.subject ? seq.value : position.value;
}

Result<Subscription::Extent> Subscription::extent() const {
  if (!options_.subject) {
    return Extent{.earliest = engine_.store().earliest().value,
                  .latest = engine_.positions().committed.value};
  }
  auto info = engine_.store().find_subject(*options_.subject);
  if (!info) return fail(std::move(info.error()));
  if (!*info) return Extent{};
  return Extent{.earliest = (*info)->first.value, .latest = (*info)->last.value};
}

Status Subscription::check_cursor() const {
  const LogId log = engine_.store().log_id();
  if (options_.log && *options_.log != log) {
    return fail(Error{ErrorCode::cursor_foreign, "the cursor belongs to another log", {}}
                    .with("requested_log", to_string(*options_.log))
                    .with("log", to_string(log)));
  }
  auto known = extent();
  if (!known) return fail(std::move(known.error()));
  if (options_.after <= known->latest) return {};
  return fail(Error{ErrorCode::cursor_ahead, "the cursor is beyond what was committed here", {}}
                  .with("requested", options_.after)
                  .with("latest", known->latest)
                  .with("log", to_string(log))
                  .with("term", engine_.store().term().value));
}

bool Subscription::has_room(std::size_t bytes) const {
  return queue_.empty() ||
         (queue_.size() < options_.events_max && queue_bytes_ + bytes <= options_.bytes_max);
}

/// A reader of history has the store to read from; a live one has only its queue.
void Subscription::overflow(std::size_t bytes) {
  if (!live_) {
    missed_ = true;
    queue_.clear();
    queue_bytes_ = 0;
    return;
  }
  const bool by_count = queue_.size() >= options_.events_max;
  over_ = true;
  bound_ = by_count ? "events_max" : "bytes_max";
  observed_ = by_count ? queue_.size() + 1 : queue_bytes_ + bytes;
  configured_ = by_count ? options_.events_max : options_.bytes_max;
}

bool Subscription::offer(LiveBatch&& batch) {
  const std::scoped_lock lock(mutex_);
  if (over_) return false;
  std::vector<std::uint64_t> places;  // where each subject of the batch stands
  for (const LiveSubject& subject : batch.subjects)
    places.push_back(subject.prev.value);
  std::uint64_t log_place = batch.prev.value;
  std::size_t offset = 0;
  for (const LiveEntry& entry : batch.entries) {
    const ByteView encoded = ByteView(batch.events).subspan(offset, entry.bytes);
    offset += entry.bytes;
    const bool durable = entry.position != Position{};
    if (durable) {
      places[entry.subject] = entry.seq.value;
      log_place = entry.position.value;
    }
    const bool wanted =
        !options_.subject || batch.subjects[entry.subject].name == *options_.subject;
    if (!wanted || (!durable && !options_.ephemeral)) continue;
    if (!has_room(encoded.size())) overflow(encoded.size());
    if (over_ || missed_) break;
    queue_.push_back({.event = {Bytes(encoded.begin(), encoded.end()), entry.position, entry.seq},
                      .place = options_.subject ? places[entry.subject] : log_place});
    queue_bytes_ += encoded.size();
  }
  arrived_.notify_one();
  return !over_;
}

/// History is read up to here. False: something came meanwhile that did not fit, so read on; from
/// now on it is captured again.
bool Subscription::go_live() {
  const std::scoped_lock lock(mutex_);
  live_ = !std::exchange(missed_, false);
  return live_;
}

Result<bool> Subscription::read_history() {
  const Position acknowledged = engine_.positions().acknowledged;
  auto page = options_.subject
                  ? engine_.store().read_subject(*options_.subject, {cursor_}, acknowledged, {})
                  : engine_.store().read_log({cursor_}, acknowledged, {});
  if (!page) return fail(std::move(page.error()));
  page_ = std::move(*page);
  page_at_ = 0;
  page_offset_ = 0;
  return !page_.empty();
}

std::optional<SubscribedEvent> Subscription::take_page_event() {
  if (page_at_ == page_.entries.size()) return std::nullopt;
  const PageEntry& entry = page_.entries[page_at_++];
  const ByteView encoded = ByteView(page_.events).subspan(page_offset_, entry.bytes);
  page_offset_ += entry.bytes;
  cursor_ = place_of(entry.position, entry.seq);
  return SubscribedEvent{Bytes(encoded.begin(), encoded.end()), entry.position, entry.seq};
}

std::optional<SubscribedEvent> Subscription::take_queued() {
  while (!queue_.empty()) {
    Queued& front = queue_.front();
    const bool durable = front.event.position != Position{};
    // Known from history already, or an ephemeral event whose moment has passed.
    const bool late = durable ? front.place <= cursor_ : front.place < cursor_;
    if (!late && front.place > cursor_ + (durable ? 1U : 0U)) {
      live_ = false;  // something before it was published before we were captured: read it
      return std::nullopt;
    }
    SubscribedEvent event = std::move(front.event);
    if (durable && !late) cursor_ = front.place;
    queue_bytes_ -= event.encoded.size();
    queue_.pop_front();
    if (!late) return event;
  }
  return std::nullopt;
}

Result<std::optional<SubscribedEvent>> Subscription::next(std::chrono::milliseconds timeout) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  std::unique_lock lock(mutex_);
  for (;;) {
    if (auto event = take_page_event()) return event;
    if (!live_) {
      lock.unlock();
      auto more = read_history();
      if (!more) return fail(std::move(more.error()));
      if (!*more) go_live();
      lock.lock();
      continue;
    }
    if (auto event = take_queued()) return event;
    if (!live_) continue;
    if (over_) return fail(slow());
    if (arrived_.wait_until(lock, until) == std::cv_status::timeout && queue_.empty() && !over_) {
      return std::nullopt;
    }
  }
}

Error Subscription::slow() const {
  const auto known = extent();
  return Error{ErrorCode::slow_consumer,
               "the reader fell behind its bound and was ended; open it again after last_delivered",
               {}}
      .with("requested", options_.after)
      .with("last_delivered", cursor_)
      .with("recovery", known ? std::max(cursor_, known->earliest - 1) : cursor_)
      .with("earliest", known ? known->earliest : 0)
      .with("latest", known ? known->latest : 0)
      .with("bound", bound_)
      .with("observed", observed_)
      .with("configured", configured_);
}

}  // namespace runwire
