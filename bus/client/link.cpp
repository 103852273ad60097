#include "bus/client/link.hpp"

#include "codec/base/ids.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace runwire::client {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds backoff_first{20};
constexpr milliseconds backoff_max{500};
constexpr milliseconds patience_first{1'000};
constexpr milliseconds patience_max{8'000};
constexpr milliseconds attach_patience{600'000};
constexpr milliseconds slice{50};  ///< A lost session shows in writability, which wakes nobody.
constexpr milliseconds dead_after = limits::heartbeat * limits::heartbeats_missed_max;
/// Over all requests at once, resent ones included, so that a full queue means a lost session.
constexpr int queue_messages_max = 16'384;
constexpr std::size_t poll_others_max = 8;

Instant now_is() {
  return std::chrono::steady_clock::now();
}

/// What the operation itself may take at the server before it answers.
milliseconds server_wait(const wire::Operation& operation, const wire::HelloReply& server) {
  if (const auto* read = std::get_if<wire::Read>(&operation)) return milliseconds(read->wait_ms);
  const auto* append = std::get_if<wire::Append>(&operation);
  if (append == nullptr || append->level != wire::Level::acknowledged) return {};
  return milliseconds(append->deadline_ms.value_or(server.ack_deadline_ms));
}

/// How long to wait for a reply before the request is sent once more. Reads are waited for, since
/// each repetition would hold a place at the server; appends are told apart by their ids. An attach
/// is not repeated on one session: the second would fence the first, whose reply comes first.
milliseconds patience_for(const wire::Operation& operation) {
  if (std::holds_alternative<wire::Attach>(operation)) return attach_patience;
  const auto* read = std::get_if<wire::Read>(&operation);
  return patience_first + (read != nullptr ? milliseconds(read->wait_ms) : milliseconds{});
}

}  // namespace

Link::Link(const ConnectOptions& options) : options_(options), backoff_(backoff_first) {
  SystemIds ids;
  client_ = ids.instance_id();
  if (options_.endpoint.empty()) options_.endpoint = default_endpoint();
}

Result<std::unique_ptr<Link>> Link::open(const ConnectOptions& options) {
  std::unique_ptr<Link> link(new Link(options));
  const Instant until = now_is() + options.timeout;
  if (Status opened = link->open_session(now_is()); !opened) return fail(opened.error());
  while (!link->greeted_) {
    if (Status turned = link->turn(); !turned) return fail(turned.error());
    if (link->unwelcome_) return fail(std::move(*link->unwelcome_));
    if (link->greeted_) break;
    if (now_is() >= until) {
      const std::string endpoint = link->options_.endpoint;
      return fail(Error{ErrorCode::unavailable, "no server answers at " + endpoint, {}}.with(
          "endpoint", endpoint));
    }
    if (Status waited = link->wait(until); !waited) return fail(waited.error());
  }
  return link;
}

Status Link::open_session(Instant now) {
  up_ = false;
  hello_rid_ = 0;
  socket_.reset();
  bus::SocketOptions options;
  options.reconnect = false;
  options.send_queue_max = queue_messages_max;
  Result<bus::Socket> socket = bus::Socket::open(context_, bus::SocketKind::dealer, options);
  if (!socket) return fail(socket.error());
  if (Status connected = socket->connect(options_.endpoint); !connected) return connected;
  socket_.emplace(std::move(*socket));
  give_up_at_ = now + backoff_;
  backoff_ = std::min(backoff_ * 2, backoff_max);
  return {};
}

void Link::restart() {
  backoff_ = backoff_first;
  static_cast<void>(open_session(now_is()));
}

void Link::on_session(Instant now) {
  up_ = true;
  heard_at_ = now;
  send_hello();
  for (auto& [rid, pending] : pending_)
    send(rid, pending, now);
}

void Link::send_hello() {
  const std::uint64_t rid = next_rid_++;
  if (transmit(rid, wire::Hello{options_.agent})) hello_rid_ = rid;
}

bool Link::transmit(std::uint64_t rid, const wire::Operation& operation) {
  bus::Message message;
  message.emplace_back(wire::encode(wire::Request{rid, client_, operation}));
  const Result<bus::Sent> sent = socket_->try_send(message);
  return sent && *sent == bus::Sent::yes;
}

void Link::send(std::uint64_t rid, Pending& pending, Instant now) {
  if (auto* append = std::get_if<wire::Append>(&pending.operation)) {
    append->again = append->again || pending.sent;
  }
  // What was not taken goes out with the next session: the queue is longer than all requests.
  pending.sent = transmit(rid, pending.operation) || pending.sent;
  pending.resend_at = now + pending.patience;
}

Result<std::uint64_t> Link::submit(wire::Operation operation,
                                   Channel channel,
                                   std::optional<milliseconds> timeout) {
  if (Status here = check_here(); !here) return fail(here.error());
  if (pending_.size() >= Connection::outstanding_max) {
    return fail(ErrorCode::backpressure, "client: 1024 requests are without a reply");
  }
  const Instant now = now_is();
  const std::uint64_t rid = next_rid_++;
  Pending pending;
  pending.deadline = now + timeout.value_or(options_.timeout) + server_wait(operation, server_);
  pending.patience = patience_for(operation);
  pending.channel = channel;
  pending.operation = std::move(operation);
  Pending& kept = pending_.emplace(rid, std::move(pending)).first->second;
  if (up_) send(rid, kept, now);
  return rid;
}

Status Link::turn() {
  if (Status here = check_here(); !here) return here;
  const Instant now = now_is();
  if (!socket_) {
    if (now >= give_up_at_) return open_session(now);
    return {};
  }
  if (Status received = receive_all(now); !received) return received;
  watch_session(now);
  if (now >= watch_at_) watch_requests(now);
  return {};
}

void Link::watch_session(Instant now) {
  const bool writable = socket_->writable();
  if (!up_) {
    if (writable) return on_session(now);
    if (now >= give_up_at_) static_cast<void>(open_session(now));
    return;
  }
  const bool owed = !pending_.empty() || hello_rid_ != 0;
  if (!writable || (owed && now - heard_at_ > dead_after)) return restart();
  if (owed && hello_rid_ == 0 && now - heard_at_ > limits::heartbeat) send_hello();
}

Status Link::receive_all(Instant now) {
  bus::Message message;
  for (int count = 0; count < 256; ++count) {
    const Result<bool> got = socket_->try_receive(message);
    if (!got) return fail(got.error());
    if (!*got) return {};
    heard_at_ = now;
    on_reply(message);
  }
  return {};
}

void Link::on_reply(bus::Message& message) {
  // What is no reply of the protocol is dropped: the request it may have answered is sent again.
  if (message.empty() || message.size() > 2) return;
  Result<wire::Reply> reply = wire::decode_reply(message[0].view());
  if (!reply) return;
  if (reply->rid == hello_rid_ && hello_rid_ != 0) return on_hello(*reply);
  const auto found = pending_.find(reply->rid);
  if (found == pending_.end()) return;  // The second reply to a request that was sent twice.
  Ready ready;
  ready.channel = found->second.channel;
  ready.answered.reply = std::move(*reply);
  if (message.size() == 2) ready.answered.events = std::move(message[1]);
  ready_.push_back(std::move(ready));
  pending_.erase(found);
}

void Link::on_hello(const wire::Reply& reply) {
  hello_rid_ = 0;
  const auto* hello = std::get_if<wire::HelloReply>(&reply.answer);
  if (hello == nullptr) {
    if (!greeted_ && reply.error) unwelcome_ = reply.error;
    return;
  }
  greeted_ = true;
  backoff_ = backoff_first;
  server_ = *hello;
  log_ = reply.log;
  term_ = reply.term;
}

void Link::watch_requests(Instant now) {
  watch_at_ = now + slice;
  for (auto entry = pending_.begin(); entry != pending_.end();) {
    Pending& pending = entry->second;
    if (now >= pending.deadline) {
      expire(entry->first, pending);
      entry = pending_.erase(entry);
      continue;
    }
    if (up_ && now >= pending.resend_at) {
      pending.patience = std::max(pending.patience, std::min(pending.patience * 2, patience_max));
      send(entry->first, pending, now);
    }
    ++entry;
  }
}

void Link::expire(std::uint64_t rid, const Pending& pending) {
  const bool never = !pending.sent && !up_;
  const ErrorCode code = never ? ErrorCode::unavailable : ErrorCode::timed_out;
  const char* why = never ? "no server is reached at " : "no answer in time from ";
  Ready ready;
  ready.channel = pending.channel;
  ready.answered.reply.rid = rid;
  ready.answered.reply.op = wire::name_of(pending.operation);
  ready.answered.reply.error =
      Error{code, why + options_.endpoint, {}}.with("endpoint", options_.endpoint);
  ready_.push_back(std::move(ready));
}

std::optional<Answered> Link::take(Channel channel) {
  const auto found = std::ranges::find(ready_, channel, &Ready::channel);
  if (found == ready_.end()) return std::nullopt;
  Answered answered = std::move(found->answered);
  ready_.erase(found);
  return answered;
}

std::optional<Answered> Link::take_rid(std::uint64_t rid) {
  const auto found = std::ranges::find_if(
      ready_, [rid](const Ready& ready) { return ready.answered.reply.rid == rid; });
  if (found == ready_.end()) return std::nullopt;
  Answered answered = std::move(found->answered);
  ready_.erase(found);
  return answered;
}

Status Link::wait(Instant until, std::span<bus::PollItem> others) {
  if (Status here = check_here(); !here) return here;
  if (others.size() > poll_others_max)
    return fail(ErrorCode::too_large, "client: too many sockets");
  std::array<bus::PollItem, poll_others_max + 1> items{};
  std::ranges::copy(others, items.begin() + 1);
  const Instant now = now_is();
  const auto left = std::chrono::ceil<milliseconds>(until - now);
  milliseconds timeout = std::clamp(left, milliseconds{0}, slice);
  if (!up_ && socket_)
    timeout = std::min(timeout, std::chrono::ceil<milliseconds>(give_up_at_ - now));
  timeout = std::max(timeout, milliseconds{0});
  if (socket_) {
    items[0].socket = &*socket_;
    items[0].want_write = !up_;
  }
  const std::size_t first = socket_ ? 0 : 1;
  const Status polled =
      bus::poll(std::span(items).subspan(first, others.size() + 1 - first), timeout);
  std::copy_n(items.begin() + 1, others.size(), others.begin());
  return polled;
}

Result<Answered> Link::call(wire::Operation operation) {
  const Result<std::uint64_t> rid = submit(std::move(operation), Channel::call);
  if (!rid) return fail(rid.error());
  while (true) {
    if (Status turned = turn(); !turned) return fail(turned.error());
    if (std::optional<Answered> answered = take_rid(*rid)) {
      wire::Reply& reply = answered->reply;
      const bool bare = std::holds_alternative<wire::NoReply>(reply.answer);
      if (reply.error && bare) return fail(std::move(*reply.error));
      return std::move(*answered);
    }
    if (Status waited = wait(now_is() + slice); !waited) return fail(waited.error());
  }
}

std::size_t Link::outstanding(Channel channel) const {
  const auto mine = [channel](const auto& entry) { return entry.second.channel == channel; };
  return static_cast<std::size_t>(std::ranges::count_if(pending_, mine));
}

}  // namespace runwire::client
