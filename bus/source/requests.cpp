#include "bus/source/requests.hpp"

#include "bus/source/subject_rows.hpp"
#include "codec/base/check.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <variant>

namespace runwire::bus {

Requests::Requests(Options options, Context& context, const Clock& clock, Counters& counters)
    : options_(std::move(options)),
      context_(context),
      clock_(clock),
      counters_(counters),
      numbers_(counters.requests) {}

Requests::~Requests() {
  stop();
}

Status Requests::serve(Engine& engine) {
  std::promise<Status> bound;
  auto outcome = bound.get_future();
  thread_ =
      std::thread([this, &engine, bound = std::move(bound)]() mutable { run(bound, engine); });
  return outcome.get();
}

void Requests::close() {
  closed_.store(true);
  done_.wakeup().raise();
}

void Requests::stop() {
  if (!thread_.joinable()) return;
  closed_.store(true);
  stop_.store(true);
  done_.wakeup().raise();
  thread_.join();
}

void Requests::run(std::promise<Status>& bound, Engine& engine) {
  auto socket =
      Socket::open(context_,
                   SocketKind::router,
                   {.send_queue_max = bounds::router_queue_messages_max, .linger = bounds::linger});
  if (!socket) return bound.set_value(fail(std::move(socket.error())));
  if (auto status = socket->bind(options_.endpoint); !status) return bound.set_value(status);
  auto where = socket->bound_endpoint();
  if (!where) return bound.set_value(fail(std::move(where.error())));
  endpoint_ = std::move(*where);
  socket_.emplace(std::move(*socket));
  reads_.emplace(engine.store(),
                 engine.positions(),
                 numbers_,
                 [this](const Origin& origin, Result<PlannedPage>&& page, HeldBytes held) {
                   if (!page)
                     return answer(origin, {.answer = {}, .error = std::move(page.error())});
                   answer(origin,
                          {.answer = std::move(page->reply), .error = {}},
                          std::move(page->events),
                          std::move(held));
                 });
  bound.set_value({});
  loop(engine);
  reads_.reset();
  socket_.reset();
}

void Requests::loop(Engine& engine) {
  bool finished = false;
  for (;;) {
    const bool stopping = stop_.load();
    const Instant now = clock_.now();
    std::size_t work = answer_done();
    work += receive(engine, now);
    if (stopping && !std::exchange(finished, true)) reads_->finish(now);
    work += reads_->turn(engine.positions(), now);
    if (work > 0) continue;
    if (stopping) return;
    wait();
  }
}

bool Requests::receiving() const {
  return !closed_.load() && outstanding_ < bounds::commands_outstanding_max &&
         outstanding_bytes_ < bounds::command_bytes_outstanding_max;
}

std::size_t Requests::receive(Engine& engine, Instant now) {
  Message message;
  std::size_t taken = 0;
  for (; taken < bounds::requests_per_turn_max && receiving(); ++taken) {
    const auto received = socket_->try_receive(message);
    if (!received || !*received) break;
    take(message, engine, now);
  }
  return taken;
}

void Requests::take(Message& message, Engine& engine, Instant now) {
  numbers_.requests.add();
  Origin origin{.routing = std::string(as_text(message[0].view())), .op = "error"};
  wire::Addressed addressed;
  auto request =
      message.size() == 2
          ? wire::decode_request(message[1].view(), addressed)
          : fail(Error{ErrorCode::invalid, "a request is one frame, without a delimiter", {}}.with(
                "frames", message.size() - 1));
  if (!request) {
    numbers_.bad.add();
    origin.rid = addressed.rid;
    origin.op = addressed.op;
    peers_.asked(origin);
    return answer(origin, {.answer = {}, .error = std::move(request.error())});
  }
  origin.client = request->client;
  origin.rid = request->rid;
  origin.op = wire::name_of(request->operation);
  peers_.asked(origin);
  dispatch(std::move(*request), std::move(origin), message[1].size(), engine, now);
}

void Requests::dispatch(
    wire::Request&& request, Origin&& origin, std::size_t bytes, Engine& engine, Instant now) {
  if (std::holds_alternative<wire::Hello>(request.operation)) {
    answer(origin, {.answer = hello(engine), .error = {}});
  } else if (const auto* read = std::get_if<wire::Read>(&request.operation)) {
    reads_->add(std::move(origin), *read, now);
  } else if (const auto* subjects = std::get_if<wire::Subjects>(&request.operation)) {
    auto rows = subject_rows(engine, *subjects);
    answer(origin,
           rows ? Outcome{.answer = std::move(*rows), .error = {}}
                : Outcome{.answer = {}, .error = std::move(rows.error())});
  } else {
    hand_over(std::move(request), std::move(origin), bytes, engine);
  }
}

void Requests::hand_over(wire::Request&& request,
                         Origin&& origin,
                         std::size_t bytes,
                         Engine& engine) {
  ++outstanding_;
  outstanding_bytes_ += bytes;
  numbers_.outstanding.set(outstanding_);
  Respond respond = [this, bytes, origin = std::move(origin)](Outcome outcome) mutable {
    Done done{.origin = std::move(origin), .bytes = bytes, .outcome = std::move(outcome)};
    check(done_.try_push(done) == Offer::accepted,
          "answers are bounded by the commands outstanding");
  };
  if (auto* append = std::get_if<wire::Append>(&request.operation)) {
    engine.append(std::move(*append), request.client, false, std::move(respond));
  } else {
    engine.submit(std::move(request.operation), request.client, std::move(respond));
  }
}

wire::HelloReply Requests::hello(const Engine& engine) const {
  wire::HelloReply reply = options_.hello;
  const Positions now = engine.positions();
  reply.committed = now.committed;
  reply.acknowledged = std::min(now.acknowledged, now.committed);
  reply.earliest = engine.store().earliest();
  return reply;
}

std::size_t Requests::answer_done() {
  const std::size_t count = done_.drain(taken_);
  for (Done& done : taken_) {
    --outstanding_;
    outstanding_bytes_ -= done.bytes;
    if (auto* status = std::get_if<wire::StatusReply>(&done.outcome.answer)) {
      std::ranges::move(facts_of(counters_), std::back_inserter(status->status));
    }
    answer(done.origin, std::move(done.outcome));
  }
  if (count > 0) numbers_.outstanding.set(outstanding_);
  return count;
}

void Requests::answer(const Origin& origin, Outcome&& outcome, Bytes&& events, HeldBytes held) {
  if (!peers_.answered(origin)) return numbers_.replies_misaddressed.add();
  const wire::Reply reply{.rid = origin.rid,
                          .op = origin.op,
                          .log = options_.identity.log,
                          .term = options_.identity.term,
                          .error = std::move(outcome.error),
                          .answer = std::move(outcome.answer)};
  Message message;
  message.emplace_back(std::string_view(origin.routing));
  message.emplace_back(wire::encode(reply));
  if (!events.empty()) message.emplace_back(std::move(events), std::move(held));
  send(std::move(message));
}

void Requests::send(Message&& message) {
  const auto sent = socket_->try_send(message);
  // Gone, or not taking its replies: the client asks again, and every operation may be repeated.
  if (!sent || *sent == Sent::would_block) numbers_.replies_dropped.add();
}

void Requests::wait() {
  std::array<PollItem, 2> items{PollItem{.socket = &*socket_, .want_read = receiving()},
                                PollItem{.fd = done_.wakeup().fd()}};
  std::chrono::milliseconds longest = limits::heartbeat;
  if (reads_->held_up()) longest = bounds::held_retry;
  if (const auto due = reads_->next_due()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - clock_.now());
    longest = std::clamp(left, std::chrono::milliseconds{0}, longest);
  }
  (void)poll(items, longest);
}

}  // namespace runwire::bus
