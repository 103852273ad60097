#include "bus/source/observer_port.hpp"

#include "bus/zmq/socket.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace runwire;
using namespace runwire::bus;
using namespace std::chrono_literals;

namespace {

struct Stage {
  Context context{};
  ObserverCounters counters{};
  ObserverPort port;
  Instant now{1h};

  Stage() : port(opened(context, counters)) {}

  static ObserverPort opened(Context& context, ObserverCounters& counters) {
    auto endpoints = Endpoints::beside("tcp://127.0.0.1:*");
    REQUIRE(endpoints);
    auto port = ObserverPort::open(context,
                                   {.identity = {.log = {}, .term = {1}},
                                    .endpoints = std::move(*endpoints),
                                    .ack_deadline_ms = 1000,
                                    .in_flight_events_max = 10,
                                    .counters = counters});
    REQUIRE(port);
    return std::move(*port);
  }

  std::string attach(Epoch epoch) {
    std::string deliver;
    port.take(AttachCommand{{.observer = "audit", .epoch = epoch},
                            [&](Outcome outcome) {
                              deliver = std::get<wire::AttachReply>(outcome.answer).deliver;
                            }},
              now);
    port.turn(now);
    return deliver;
  }
};

}  // namespace

TEST_CASE("C04 ObserverPort: a zombie that could not be told is told as soon as it listens",
          "[bus][observe]") {
  Stage stage;
  const std::string older = stage.attach({1});
  stage.attach({2});  // Nobody listens to the older one yet: there is no one to tell.
  auto zombie = Socket::open(stage.context, SocketKind::pull);
  REQUIRE(zombie);
  REQUIRE(zombie->connect(older));
  std::vector<PollItem> items;
  stage.port.add_waiting(items);
  REQUIRE(items.size() == 1);
  REQUIRE(poll(items, 10s));
  CHECK(items.front().writable);
  stage.port.turn(stage.now);
  std::vector<PollItem> heard{{.socket = &*zombie}};
  REQUIRE(poll(heard, 10s));
  Message message;
  REQUIRE(*zombie->try_receive(message));
  const auto delivery = wire::decode_delivery(message[0].view());
  REQUIRE(delivery);
  CHECK(delivery->kind == wire::Delivery::Kind::fenced);
  CHECK(delivery->current == Epoch{2});
  items.clear();
  stage.port.add_waiting(items);
  CHECK(items.empty());
}
