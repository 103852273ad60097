#include "bus/source/live_thread.hpp"

#include "bus/source/bounds.hpp"
#include "bus/source/publisher.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace runwire::bus {

LiveThread::LiveThread(
    Options options, Context& context, const Store& store, const Clock& clock, Counters& counters)
    : options_(std::move(options)),
      context_(context),
      store_(store),
      clock_(clock),
      counters_(counters) {}

LiveThread::~LiveThread() {
  stop();
}

Status LiveThread::bind() {
  std::promise<Status> bound;
  auto outcome = bound.get_future();
  thread_ = std::thread([this, bound = std::move(bound)]() mutable { run(bound); });
  return outcome.get();
}

void LiveThread::serve(Engine& engine) {
  told_ = true;
  engine_.set_value(&engine);
}

void LiveThread::stop() {
  if (!thread_.joinable()) return;
  stop_.store(true);
  if (!std::exchange(told_, true)) engine_.set_value(nullptr);
  commands_.close();
  thread_.join();
}

bool LiveThread::offer(LiveBatch&& batch) {
  if (inbox_.offer(std::move(batch))) return true;
  counters_.live.batches_dropped.add();
  return false;
}

void LiveThread::attached(const Attachment& attachment, Respond respond) {
  ObserverCommand command{AttachCommand{attachment, std::move(respond)}};
  if (commands_.try_push(command) == Offer::accepted) return;
  counters_.observers.commands_dropped.add();
  std::get<AttachCommand>(command).respond(
      {.answer = {},
       .error = Error{ErrorCode::closed, "the server is shutting down; attach again later", {}}});
}

void LiveThread::deliver(ObserverDelivery&& delivery) {
  push(std::move(delivery));
}

void LiveThread::detached(const std::string& observer, Epoch epoch) {
  push(DetachCommand{observer, epoch});
}

void LiveThread::fenced(const std::string& observer, Epoch stale, Epoch current) {
  push(FencedCommand{observer, stale, current});
}

void LiveThread::push(ObserverCommand&& command) {
  // A delivery that is dropped here was not acked, and comes again at its deadline.
  if (commands_.try_push(command) != Offer::accepted) counters_.observers.commands_dropped.add();
}

void LiveThread::run(std::promise<Status>& bound) {
  auto publisher =
      Publisher::open(context_,
                      options_.endpoints.live(),
                      {.identity = options_.identity, .store = store_, .counters = counters_.live});
  if (!publisher) return bound.set_value(fail(std::move(publisher.error())));
  auto observers = ObserverPort::open(context_,
                                      {.identity = options_.identity,
                                       .endpoints = options_.endpoints,
                                       .ack_deadline_ms = options_.ack_deadline_ms,
                                       .in_flight_events_max = options_.in_flight_events_max,
                                       .counters = counters_.observers});
  if (!observers) return bound.set_value(fail(std::move(observers.error())));
  live_endpoint_ = publisher->endpoint();
  acks_endpoint_ = observers->acks_endpoint();
  auto engine = engine_.get_future();
  bound.set_value({});
  if (Engine* there = engine.get()) loop(*publisher, *observers, *there);
}

void LiveThread::loop(Publisher& publisher, ObserverPort& observers, Engine& engine) {
  publisher.follow([&engine] { return engine.positions(); });
  const auto acknowledge = [&engine](wire::Ack&& ack) { engine.acknowledge(std::move(ack)); };
  for (;;) {
    const bool stopping = stop_.load();
    const Instant now = clock_.now();
    std::size_t work = take_commands(observers, now);
    work += observers.turn(now);
    work += observers.take_acks(acknowledge);
    work += publisher.take_subscriptions(now);
    work += publish(publisher, now);
    work += publisher.send_due(now);
    if (work > 0) continue;
    if (stopping) return;
    wait(publisher, observers, now);
  }
}

std::size_t LiveThread::take_commands(ObserverPort& observers, Instant now) {
  const std::size_t count = commands_.drain(taken_);
  for (ObserverCommand& command : taken_)
    observers.take(std::move(command), now);
  return count;
}

std::size_t LiveThread::publish(Publisher& publisher, Instant now) {
  if (batches_done_ == batches_.size()) {
    batches_done_ = 0;
    inbox_.drain(batches_);
  }
  const std::size_t end = std::min(batches_.size(), batches_done_ + bounds::pieces_per_turn_max);
  const std::size_t count = end - batches_done_;
  for (; batches_done_ < end; ++batches_done_) {
    LiveBatch& batch = batches_[batches_done_];
    const std::size_t bytes = LiveInbox::size_of(batch);
    publisher.publish(std::move(batch), now);
    inbox_.sent(bytes);
  }
  return count;
}

void LiveThread::wait(const Publisher& publisher, const ObserverPort& observers, Instant now) {
  items_.clear();
  items_.push_back({.socket = &publisher.socket()});
  items_.push_back({.socket = &observers.acks()});
  items_.push_back({.fd = inbox_.wakeup().fd()});
  items_.push_back({.fd = commands_.wakeup().fd()});
  observers.add_waiting(items_);
  const Instant due = observers.next_due(publisher.next_due());
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - now);
  // A poll that fails is a bug of ours or the end of the context; the turn after it finds out
  // which.
  (void)poll(items_, std::clamp(left, std::chrono::milliseconds{0}, limits::heartbeat));
}

}  // namespace runwire::bus
