#include "engine/observe/required_observer.hpp"

#include <catch2/catch.hpp>

#include <utility>
#include <vector>

using namespace runwire;
using namespace std::chrono_literals;

namespace {

/// Events of ten bytes each, at every position.
Result<Page> ten_bytes_each(Position after, Position upto, PageBounds bounds) {
  Page page;
  for (std::uint64_t at = after.value + 1; at <= upto.value; ++at) {
    const std::size_t count = page.entries.size();
    if (count == bounds.events_max || (count > 0 && page.events.size() + 10 > bounds.bytes_max)) {
      page.more = true;
      break;
    }
    page.events.resize(page.events.size() + 10);
    page.entries.push_back({.position = {at}, .seq = {at}, .bytes = 10});
  }
  return page;
}

struct Sink final : ObserverSink {
  std::vector<ObserverDelivery> deliveries{};
  void attached(const Attachment& /*attachment*/, Respond /*respond*/) override {}
  void deliver(ObserverDelivery&& delivery) override { deliveries.push_back(std::move(delivery)); }
  void detached(const std::string& /*observer*/, Epoch /*epoch*/) override {}
  void fenced(const std::string& /*observer*/, Epoch /*stale*/, Epoch /*current*/) override {}

  [[nodiscard]] std::vector<std::uint64_t> positions() const {
    std::vector<std::uint64_t> all;
    for (const ObserverDelivery& delivery : deliveries) {
      for (const PageEntry& entry : delivery.page.entries)
        all.push_back(entry.position.value);
    }
    return all;
  }
};

struct Stage {
  Sink sink{};
  Instant now{std::chrono::hours(1)};
  RequiredObserver observer;

  explicit Stage(ObserverBounds bounds = {}, Position acked = {}, Position gates_from = {})
      : observer("audit", acked, gates_from, bounds) {}
  std::size_t advance(std::uint64_t limit) {
    auto work = observer.advance({limit}, now, ten_bytes_each, sink);
    REQUIRE(work);
    return *work;
  }
};

}  // namespace

TEST_CASE("RequiredObserver: nobody attached, nothing handed over, everything owed",
          "[engine][observe]") {
  Stage stage;
  CHECK(stage.advance(10) == 0);
  CHECK(stage.observer.gate() == Position{0});
  stage.observer.attach();
  CHECK(stage.advance(10) == 10);
  CHECK_FALSE(stage.sink.deliveries[0].again);
}

TEST_CASE("RequiredObserver: in flight is bounded by count", "[engine][observe][bound]") {
  Stage stage({.in_flight_events_max = 4});
  const Epoch epoch = stage.observer.attach();
  CHECK(stage.advance(100) == 4);
  CHECK(stage.advance(100) == 0);
  REQUIRE(stage.observer.ack(epoch, {4}));
  CHECK(stage.advance(100) == 4);
  CHECK(stage.sink.positions() == std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("RequiredObserver: in flight is bounded by bytes, one event always fits",
          "[engine][observe][bound]") {
  Stage stage({.in_flight_bytes_max = 25});
  const Epoch epoch = stage.observer.attach();
  CHECK(stage.advance(100) == 3);  // 20 bytes, then one more page of one event
  CHECK(stage.advance(100) == 0);
  REQUIRE(stage.observer.ack(epoch, {3}));
  CHECK(stage.advance(100) == 3);
}

TEST_CASE("RequiredObserver: what is late is sent again from the ack", "[engine][observe]") {
  Stage stage({.ack_deadline = 2s});
  const Epoch epoch = stage.observer.attach();
  CHECK(stage.advance(3) == 3);
  REQUIRE(stage.observer.ack(epoch, {1}));
  stage.now += 1999ms;
  CHECK(stage.advance(3) == 0);
  stage.now += 1ms;
  CHECK(stage.advance(3) == 2);
  CHECK(stage.sink.deliveries.back().again);
  CHECK(stage.observer.redeliveries() == 1);
  CHECK(stage.sink.positions() == std::vector<std::uint64_t>{1, 2, 3, 2, 3});
}

TEST_CASE("C04 RequiredObserver: a newer attach fences the older", "[engine][observe]") {
  Stage stage;
  const Epoch old_epoch = stage.observer.attach();
  stage.advance(5);
  const Epoch new_epoch = stage.observer.attach();
  CHECK(new_epoch > old_epoch);
  const auto stale = stage.observer.ack(old_epoch, {5});
  REQUIRE_FALSE(stale);
  CHECK(stale.error().code == ErrorCode::fenced);
  CHECK(stale.error().number("current") == new_epoch.value);
  CHECK(stage.observer.acked() == Position{0});
  stage.advance(5);
  REQUIRE(stage.observer.ack(new_epoch, {5}));
  CHECK(stage.observer.acked() == Position{5});
}

TEST_CASE("RequiredObserver: an ack beyond what was delivered is refused", "[engine][observe]") {
  Stage stage;
  const Epoch epoch = stage.observer.attach();
  stage.advance(5);
  const auto ahead = stage.observer.ack(epoch, {6});
  REQUIRE_FALSE(ahead);
  CHECK(ahead.error().code == ErrorCode::invalid);
  REQUIRE(stage.observer.ack(epoch, {5}));
  CHECK(*stage.observer.ack(epoch, {3}) == false);
  CHECK(stage.observer.acked() == Position{5});
}

TEST_CASE("RequiredObserver: a refusal holds the event and tries again later, slower each time",
          "[engine][observe]") {
  Stage stage;
  const Epoch epoch = stage.observer.attach();
  stage.advance(5);
  REQUIRE(stage.observer.refuse(epoch, {3}, stage.now));
  CHECK(stage.observer.acked() == Position{2});
  CHECK(stage.advance(5) == 0);
  stage.now += RequiredObserver::retry_first;
  CHECK(stage.advance(5) == 3);
  REQUIRE(stage.observer.refuse(epoch, {3}, stage.now));
  stage.now += RequiredObserver::retry_first;
  CHECK(stage.advance(5) == 0);
  stage.now += RequiredObserver::retry_first;
  CHECK(stage.advance(5) == 3);
  CHECK(stage.observer.refusals() == 2);
}

TEST_CASE("RequiredObserver: so many refusals in a row of one event, and it may be passed over",
          "[engine][observe][bound]") {
  Stage stage({.skip_after = 3});
  const Epoch epoch = stage.observer.attach();
  const auto refuse = [&](std::uint64_t position) {
    stage.now += RequiredObserver::retry_max;
    stage.advance(5);
    const auto exhausted = stage.observer.refuse(epoch, {position}, stage.now);
    REQUIRE(exhausted);
    return *exhausted;
  };
  CHECK_FALSE(refuse(2));
  CHECK_FALSE(refuse(2));
  CHECK_FALSE(refuse(3));  // Another one: the count begins anew.
  CHECK_FALSE(refuse(3));
  CHECK(refuse(3));
  CHECK(stage.observer.acked() == Position{2});  // Until it is on record.
  CHECK_FALSE(stage.observer.skip({4}));
  CHECK(stage.observer.skip({3}));
  CHECK(stage.observer.acked() == Position{3});
  CHECK(stage.observer.skipped() == 1);
  CHECK(stage.advance(5) == 2);  // At once: the pause was for the refused one.
  CHECK(stage.sink.deliveries.back().prev == Position{2});
  REQUIRE(stage.observer.ack(epoch, {5}));
  stage.advance(6);
  CHECK(stage.sink.deliveries.back().prev == Position{5});
}

TEST_CASE("RequiredObserver: a refusal of what was never delivered changes nothing",
          "[engine][observe]") {
  Stage stage({.skip_after = 1});
  const Epoch epoch = stage.observer.attach();
  stage.advance(5);
  for (const std::uint64_t position : {std::uint64_t{0}, std::uint64_t{6}}) {
    const auto refused = stage.observer.refuse(epoch, {position}, stage.now);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid);
  }
  CHECK(stage.observer.acked() == Position{0});
  CHECK(stage.observer.refusals() == 0);
}

TEST_CASE("RequiredObserver: suspended it is offered nothing and gates nothing",
          "[engine][observe]") {
  Stage stage;
  const Epoch epoch = stage.observer.attach();
  stage.advance(5);
  stage.observer.suspend();
  CHECK(stage.observer.gate() > Position{1'000'000});
  CHECK(stage.advance(9) == 0);
  CHECK_FALSE(stage.observer.next_due());
  stage.observer.resume({7});
  CHECK(stage.observer.gate() == Position{7});
  CHECK(stage.advance(9) == 9);
  REQUIRE(stage.observer.ack(epoch, {9}));
  CHECK(stage.observer.gate() == Position{9});
}

TEST_CASE("RequiredObserver: a name that catches up holds nobody back until it has",
          "[engine][observe]") {
  Stage stage({}, {0}, {100});
  CHECK(stage.observer.gate() == Position{100});
  const Epoch epoch = stage.observer.attach();
  stage.advance(150);
  REQUIRE(stage.observer.ack(epoch, {120}));
  CHECK(stage.observer.gate() == Position{120});
}

TEST_CASE("RequiredObserver: detaching takes an epoch that is current", "[engine][observe]") {
  Stage stage;
  const Epoch first = stage.observer.attach();
  const Epoch second = stage.observer.attach();
  stage.observer.detach(first);
  CHECK(stage.observer.attached());
  stage.observer.detach(second);
  CHECK_FALSE(stage.observer.attached());
}
