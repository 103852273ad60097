#include "bus/client/observer.hpp"

#include "bus/client/bounds.hpp"
#include "bus/client/link_observer.hpp"
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

}  // namespace

Status LinkObserver::check() const {
  if (Status here = link_->check_here(); !here) return here;
  if (failure_) return fail(*failure_);
  return {};
}

Status LinkObserver::fail_for_ever(Error error) {
  if (!failure_) failure_ = std::move(error);
  deliver_.reset();
  acks_.reset();
  return fail(*failure_);
}

Status LinkObserver::begin() {
  const Instant until = now_is() + options_.connect.timeout;
  while (!deliver_) {
    if (Status turned = turn(now_is()); !turned) return turned;
    if (deliver_) break;
    if (now_is() >= until) {
      if (hindrance_) return fail(*hindrance_);
      return fail(Error{ErrorCode::timed_out, "attach: no answer in time", {}}.with("observer",
                                                                                    options_.name));
    }
    if (Status waited = wait(until); !waited) return waited;
  }
  return {};
}

Result<std::optional<Owed>> LinkObserver::next(milliseconds timeout) {
  const Instant until = now_is() + timeout;
  while (true) {
    if (Status turned = turn(now_is()); !turned) return fail(turned.error());
    if (ready_) return std::exchange(ready_, std::nullopt);
    if (now_is() >= until) return std::optional<Owed>();
    if (Status waited = wait(until); !waited) return fail(waited.error());
  }
}

Status LinkObserver::turn(Instant now) {
  if (Status good = check(); !good) return good;
  if (Status turned = link_->turn(); !turned) return turned;
  take_replies(now);
  if (failure_) return fail(*failure_);
  if (deliver_ && link_->greeted() && link_->term() != term_) lose(now);
  Status done;
  if (!deliver_) {
    done = ask_attach(now);
  } else if (!ready_ && cursor_.is_behind()) {
    done = read_behind(now);
  } else if (!ready_) {
    done = receive(now);
  }
  if (!done) return done;
  send_ack();
  return {};
}

Status LinkObserver::ask_attach(Instant now) {
  if (attaching_ || now < retry_at_ || !link_->greeted()) return {};
  wire::Attach attach;
  attach.observer = options_.name;
  attach.instance = instance_;
  attach.log = log_;
  if (cursor_.known()) attach.position = cursor_.acked();
  const Result<std::uint64_t> rid =
      link_->submit(std::move(attach), Link::Channel::work, bounds::attach_timeout);
  if (!rid) return fail(rid.error());
  attaching_ = *rid;
  return {};
}

void LinkObserver::take_replies(Instant now) {
  while (std::optional<Answered> answered = link_->take(Link::Channel::work)) {
    if (answered->reply.rid == attaching_) {
      attaching_.reset();
      on_attach(answered->reply, now);
    } else if (answered->reply.rid == reading_) {
      reading_.reset();
      on_page(*answered, now);
    }
  }
}

void LinkObserver::on_attach(wire::Reply& reply, Instant now) {
  if (reply.error) {
    retry_at_ = now + bounds::retry_first;
    hindrance_ = reply.error;
    if (!passes(reply.error->code)) static_cast<void>(fail_for_ever(std::move(*reply.error)));
    return;
  }
  auto* attached = std::get_if<wire::AttachReply>(&reply.answer);
  if (attached == nullptr) {
    static_cast<void>(
        fail_for_ever({ErrorCode::invalid, "attach: the reply does not match its request", {}}));
    return;
  }
  attach_ = std::move(*attached);
  term_ = reply.term;
  log_ = reply.log;
  if (Status connected = connect(now); !connected)
    static_cast<void>(fail_for_ever(connected.error()));
}

Status LinkObserver::connect(Instant now) {
  cursor_.attached(attach_.acked);
  heard_at_ = now;
  Result<bus::Socket> deliver = bus::Socket::open(link_->context(), bus::SocketKind::pull);
  if (!deliver) return fail(deliver.error());
  if (Status connected = deliver->connect(attach_.deliver); !connected) return connected;
  bus::SocketOptions options;
  options.linger = bounds::acks_linger;
  Result<bus::Socket> acks = bus::Socket::open(link_->context(), bus::SocketKind::push, options);
  if (!acks) return fail(acks.error());
  if (Status connected = acks->connect(attach_.acks); !connected) return connected;
  deliver_.emplace(std::move(*deliver));
  acks_.emplace(std::move(*acks));
  return {};
}

void LinkObserver::lose(Instant now) {
  deliver_.reset();
  acks_.reset();
  ready_.reset();
  reading_.reset();
  retry_at_ = now;
}

Status LinkObserver::wait(Instant until) {
  std::array<bus::PollItem, 2> items{};
  std::size_t count = 0;
  if (deliver_ && !cursor_.is_behind()) items[count++].socket = &*deliver_;
  if (acks_ && cursor_.ack_due()) {
    items[count].socket = &*acks_;
    items[count].want_read = false;
    items[count++].want_write = true;
  }
  if (retry_at_ > now_is()) until = std::min(until, retry_at_);
  return link_->wait(until, std::span(items).first(count));
}

std::optional<Answered> LinkObserver::ask(wire::Operation operation, Instant until) {
  const auto left = std::chrono::ceil<milliseconds>(until - now_is());
  if (!link_->submit(std::move(operation), Link::Channel::call, left)) return std::nullopt;
  while (link_->turn() && now_is() < until) {
    if (auto answered = link_->take(Link::Channel::call)) return answered;
    if (!link_->wait(until)) break;
  }
  return std::nullopt;
}

/// An ack has no answer of its own and travels beside the requests: who detaches before the server
/// has it on record makes the next consumer get the same again.
void LinkObserver::settle_acks(Instant until) {
  if (cursor_.to_ack() <= attach_.acked) return;
  while (now_is() < until) {
    send_ack();
    const std::optional<Answered> answered = ask(wire::Observers{}, until);
    const auto* reply =
        answered ? std::get_if<wire::ObserversReply>(&answered->reply.answer) : nullptr;
    if (reply == nullptr) return;
    for (const wire::ObserverRow& row : reply->observers) {
      if (row.observer != options_.name) continue;
      if (row.acked >= cursor_.to_ack() || row.epoch != attach_.epoch) return;
    }
    if (!link_->wait(std::min(until, now_is() + bounds::settle_pause))) return;
  }
}

/// Says goodbye where that is still possible: acks for what was done, then detach.
void LinkObserver::leave() {
  if (!deliver_ || failure_ || !link_->check_here()) return;
  const Instant until = now_is() + bounds::detach_timeout;
  settle_acks(until);
  static_cast<void>(ask(wire::Detach{options_.name, attach_.epoch}, until));
}

Result<std::unique_ptr<Observer>> Observer::open(const ObserverOptions& options) {
  Result<std::unique_ptr<Link>> link = Link::open(options.connect);
  if (!link) return fail(link.error());
  auto observer = std::make_unique<LinkObserver>(options, std::move(*link));
  if (Status begun = observer->begin(); !begun) return fail(begun.error());
  return std::unique_ptr<Observer>(std::move(observer));
}

}  // namespace runwire::client
