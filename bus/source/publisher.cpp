#include "bus/source/publisher.hpp"

#include "bus/source/bounds.hpp"
#include "bus/source/page_plan.hpp"
#include "codec/base/limits.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace runwire::bus {
namespace {

/// A subscription as XPUB hands it up: one byte, 1 or 0, and the topic.
struct Subscription {
  bool active = false;
  std::string_view topic{};
};

std::optional<Subscription> subscription_in(const Message& message) {
  if (message.size() != 1 || message[0].size() == 0) return std::nullopt;
  const std::string_view text = as_text(message[0].view());
  if (text[0] != '\0' && text[0] != '\1') return std::nullopt;
  return Subscription{.active = text[0] == '\1', .topic = text.substr(1)};
}

}  // namespace

Result<Publisher> Publisher::open(Context& context, const std::string& endpoint, World world) {
  auto socket =
      Socket::open(context,
                   SocketKind::xpub,
                   {.send_queue_max = limits::live_queue_messages_max, .linger = bounds::linger});
  if (!socket) return fail(std::move(socket.error()));
  if (auto bound = socket->bind(endpoint); !bound) return fail(std::move(bound.error()));
  auto where = socket->bound_endpoint();
  if (!where) return fail(std::move(where.error()));
  return Publisher(std::move(*socket), std::move(*where), std::move(world));
}

void Publisher::publish(LiveBatch&& batch, Instant now) {
  world_.counters.batches.add();
  outgoing_.clear();
  frame_batch(world_.identity, std::move(batch), topics_, beacons_, now, outgoing_);
  for (Outgoing& outgoing : outgoing_) {
    world_.counters.messages.add();
    world_.counters.events.add(outgoing.count);
    send(std::move(outgoing));
  }
}

std::size_t Publisher::take_subscriptions(Instant now) {
  Message message;
  std::size_t taken = 0;
  for (; taken < bounds::subscriptions_per_turn_max; ++taken) {
    const auto received = socket_.try_receive(message);
    if (!received || !*received) break;
    const auto subscription = subscription_in(message);
    if (!subscription) continue;  // a reader may send anything up the pipe; it means nothing here
    if (subscription->active) {
      subscribed(subscription->topic, now);
    } else {
      unsubscribed(subscription->topic);
    }
  }
  if (taken > 0) world_.counters.topics.set(topics_.size());
  return taken;
}

void Publisher::subscribed(std::string_view name, Instant now) {
  world_.counters.subscriptions.add();
  Topic* topic = topics_.add(name);
  if (topic == nullptr) {
    world_.counters.subscriptions_refused.add();
    return;
  }
  if (topic->kind == Topic::Kind::heartbeat) {
    send(frame_heartbeat(world_.identity, *topic, positions_().acknowledged));
    return;
  }
  beacons_.touched(*topic, now);
  send_beacon(*topic);
}

void Publisher::unsubscribed(std::string_view name) {
  if (const auto topic = topics_.remove(name)) beacons_.forget(*topic);
}

bool Publisher::look_up(Topic& topic) {
  if (topic.known) return true;
  const Position published = positions_().published;
  if (topic.kind == Topic::Kind::log) {
    topic.last = std::max(topic.last, published.value);
  } else if (topic.kind == Topic::Kind::subject) {
    const auto shown = shown_at_level(world_.store, topic.subject(), published);
    if (!shown) {
      world_.counters.lookup_failed.add();
      return false;
    }
    if (shown->last.value >= topic.last) {
      topic.last = shown->last.value;
      topic.state = shown->state;
      topic.origin = shown->origin;
      topic.owner_term = shown->owner_term;
    }
  }
  topic.known = true;
  return true;
}

void Publisher::send_beacon(Topic& topic) {
  // Without its last place a beacon would say that nothing was missed: better none, until the next.
  if (!look_up(topic)) return;
  world_.counters.beacons.add();
  send(frame_beacon(world_.identity, topic, positions_().acknowledged));
}

std::size_t Publisher::send_due(Instant now) {
  std::size_t sent = 0;
  for (; sent < bounds::beacons_per_turn_max; ++sent) {
    Topic* topic = beacons_.take_due(now);
    if (topic == nullptr) break;
    send_beacon(*topic);
  }
  if (now < heartbeat_at_) return sent;
  heartbeat_at_ = now + limits::heartbeat;
  if (Topic* topic = topics_.heartbeat()) {
    send(frame_heartbeat(world_.identity, *topic, positions_().acknowledged));
    ++sent;
  }
  return sent;
}

Instant Publisher::next_due() const {
  const auto beacon = beacons_.next_due();
  return beacon ? std::min(*beacon, heartbeat_at_) : heartbeat_at_;
}

void Publisher::send(Outgoing&& outgoing) {
  Message message;
  message.emplace_back(std::string_view(outgoing.topic));
  message.emplace_back(std::move(outgoing.header));
  if (outgoing.count > 0) message.emplace_back(std::move(outgoing.events));
  const auto sent = socket_.try_send(message);
  if (!sent || *sent == Sent::would_block) world_.counters.send_failed.add();
}

}  // namespace runwire::bus
