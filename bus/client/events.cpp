#include "bus/client/events.hpp"

#include "bus/client/bounds.hpp"
#include "bus/client/join.hpp"
#include "bus/client/link.hpp"
#include "bus/client/passing.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace runwire::client {
namespace {

using std::chrono::milliseconds;

Instant now_is() {
  return std::chrono::steady_clock::now();
}

/// The last place that is there now, at the level asked for.
Result<std::uint64_t> end_of_history(Link& link, const EventsOptions& options) {
  const bool committed = options.level == wire::Level::committed;
  if (!options.subject) {
    return committed ? link.server().committed.value : link.server().acknowledged.value;
  }
  wire::Read read;
  read.subject = options.subject;
  read.level = options.level;
  read.max_events = 1;
  const Result<Answered> answered = link.call(std::move(read));
  const Error* error = nullptr;
  if (!answered) {
    error = &answered.error();
  } else if (answered->reply.error) {
    error = &*answered->reply.error;
  }
  if (error == nullptr) {
    const auto* page = std::get_if<wire::PageReply>(&answered->reply.answer);
    if (page != nullptr) return page->latest;
    return fail(ErrorCode::invalid, "read: the reply does not match its request");
  }
  const std::optional<std::uint64_t> latest = error->number("latest");
  if (error->code == ErrorCode::cursor_expired && latest) return *latest;
  return fail(*error);
}

Join::Options join_options(const EventsOptions& options, std::uint64_t after) {
  return {.subject = options.subject,
          .after = after,
          .log = options.log,
          .level = options.level,
          .follow = options.follow,
          .ephemeral = options.ephemeral,
          .buffer_messages_max = options.buffer_messages_max,
          .buffer_bytes_max = options.buffer_bytes_max};
}

class LinkEvents final : public Events {
 public:
  LinkEvents(const EventsOptions& options, std::unique_ptr<Link> link, std::uint64_t after)
      : link_(std::move(link)),
        join_(join_options(options, after)),
        subject_(options.subject),
        cursor_(after) {}

  Result<std::optional<Item>> next(milliseconds timeout) override;
  [[nodiscard]] std::uint64_t cursor() const override { return cursor_; }
  [[nodiscard]] LogId log() const override { return join_.log().value_or(link_->log()); }
  [[nodiscard]] const EventsCounters& counters() const override { return join_.counters(); }

 private:
  std::optional<Item> take();
  Status turn(Instant now);
  void take_replies(Instant now);
  Status receive_live(Instant now);
  void on_live(bus::Message& message);
  void judge_silence(Instant now);
  Status connect_again(Instant now);
  Status subscribe();
  Status send_reads(Instant now);
  Status wait(Instant until);
  void lose(const std::string& reason);

  std::unique_ptr<Link> link_;
  Join join_;
  std::optional<std::string> subject_;
  std::uint64_t cursor_;
  std::optional<bus::Socket> live_{};
  milliseconds pause_{};  ///< Before the next read, after one that was put off.
  Instant read_at_{};
  Instant heard_at_{};
  Instant joining_since_{};
};

Result<std::optional<Item>> LinkEvents::next(milliseconds timeout) {
  if (Status here = link_->check_here(); !here) return fail(here.error());
  const Instant until = now_is() + timeout;
  while (true) {
    if (std::optional<Item> item = take()) return item;
    if (join_.failure()) return fail(*join_.failure());
    if (join_.phase() == Join::Phase::ended) return std::optional<Item>(Ended{cursor_});
    if (Status moved = turn(now_is()); !moved) return fail(moved.error());
    if (join_.has_items() || join_.failure()) continue;
    if (now_is() >= until) return std::optional<Item>();
    if (Status waited = wait(until); !waited) return fail(waited.error());
  }
}

std::optional<Item> LinkEvents::take() {
  std::optional<Item> item = join_.take();
  if (!item) return item;
  if (const auto* heard = std::get_if<Heard>(&*item); heard != nullptr && heard->event.durable) {
    cursor_ = join_.whole_log() ? heard->position.value : heard->event.durable->seq.value;
  }
  return item;
}

Status LinkEvents::turn(Instant now) {
  if (Status turned = link_->turn(); !turned) return turned;
  take_replies(now);
  if (Status received = receive_live(now); !received) return received;
  if (link_->greeted() && link_->term() > join_.term()) join_.lost("the server was restarted");
  if (join_.restart()) {
    if (Status connected = connect_again(now); !connected) return connected;
  }
  return send_reads(now);
}

void LinkEvents::take_replies(Instant now) {
  while (std::optional<Answered> answered = link_->take(Link::Channel::work)) {
    wire::Reply& reply = answered->reply;
    if (!join_.awaits(reply.rid)) continue;
    auto* page = std::get_if<wire::PageReply>(&reply.answer);
    if (!reply.error && page != nullptr) {
      pause_ = {};
      join_.page(reply.rid, reply.log, reply.term, std::move(*page), std::move(answered->events));
    } else if (reply.error && passes(reply.error->code)) {
      pause_ = std::clamp(pause_ * 2, bounds::retry_first, bounds::retry_max);
      read_at_ = now + pause_;
      join_.unanswered(reply.rid);
    } else {
      join_.fail_with(
          reply.error
              ? std::move(*reply.error)
              : Error{ErrorCode::invalid, "read: the reply does not match its request", {}});
    }
  }
}

Status LinkEvents::receive_live(Instant now) {
  bus::Message message;
  for (int count = 0; live_ && count < bounds::live_messages_per_turn_max; ++count) {
    const Result<bool> got = live_->try_receive(message);
    if (!got) return fail(got.error());
    if (!*got) {
      judge_silence(now);
      return {};
    }
    heard_at_ = now;
    on_live(message);
  }
  return {};
}

void LinkEvents::on_live(bus::Message& message) {
  // What is nothing of the protocol is dropped: what was missed by it shows as a hole.
  if (message.size() != 2 && message.size() != 3) return;
  const Result<wire::Live> live = wire::decode_live(message[1].view());
  if (!live) return;
  join_.live(*live, message.size() == 3 ? std::move(message[2]) : bus::Frame());
}

void LinkEvents::judge_silence(Instant now) {
  const milliseconds heartbeat(std::clamp<std::uint64_t>(link_->server().heartbeat_ms, 1, 60'000));
  const milliseconds allowed = heartbeat * limits::heartbeats_missed_max;
  if (now - heard_at_ > allowed) {
    lose("nothing was heard for three heartbeats");
  } else if (join_.phase() == Join::Phase::joining && now - joining_since_ > allowed) {
    lose("the subscription was not confirmed");
  }
}

void LinkEvents::lose(const std::string& reason) {
  join_.lost(reason);
  live_.reset();
  link_->restart();
}

/// Subscribes at the server that has said hello last; until it is one of the term that was heard of
/// there is nothing to do.
Status LinkEvents::connect_again(Instant now) {
  live_.reset();
  if (!link_->greeted()) return {};
  if (link_->log() == join_.log() && link_->term() < join_.term()) {
    link_->restart();
    return {};
  }
  heard_at_ = joining_since_ = now;
  read_at_ = {};
  join_.start(link_->log(), link_->term());
  return join_.wants_live() && !join_.failure() ? subscribe() : Status();
}

Status LinkEvents::subscribe() {
  Result<bus::Socket> socket = bus::Socket::open(link_->context(), bus::SocketKind::sub);
  if (!socket) return fail(socket.error());
  const std::string topic = subject_ ? wire::topic_of(*subject_) : std::string(wire::log_topic);
  if (Status done = socket->subscribe(wire::heartbeat_topic); !done) return done;
  if (Status done = socket->subscribe(topic); !done) return done;
  if (Status done = socket->connect(link_->server().live); !done) return done;
  live_.emplace(std::move(*socket));
  return {};
}

Status LinkEvents::send_reads(Instant now) {
  if (now < read_at_) return {};
  // Those of a former join are counted too: the server has a bound for one client.
  while (link_->outstanding(Link::Channel::work) < limits::pages_outstanding_max) {
    const std::optional<wire::Read> read = join_.want();
    if (!read) return {};
    const Result<std::uint64_t> rid = link_->submit(*read, Link::Channel::work);
    if (!rid) return fail(rid.error());
    join_.sent(*rid, *read);
  }
  return {};
}

Status LinkEvents::wait(Instant until) {
  std::array<bus::PollItem, 1> items{};
  if (live_) items[0].socket = &*live_;
  if (read_at_ > now_is()) until = std::min(until, read_at_);
  return link_->wait(until, std::span(items).first(live_ ? 1 : 0));
}

}  // namespace

Result<std::unique_ptr<Events>> Events::open(const EventsOptions& options) {
  Result<std::unique_ptr<Link>> link = Link::open(options.connect);
  if (!link) return fail(link.error());
  std::uint64_t after = options.after;
  if (options.from_end) {
    const Result<std::uint64_t> end = end_of_history(**link, options);
    if (!end) return fail(end.error());
    after = *end;
  }
  return std::unique_ptr<Events>(std::make_unique<LinkEvents>(options, std::move(*link), after));
}

}  // namespace runwire::client
