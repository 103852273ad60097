#include "bus/source/beacons.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace runwire;
using namespace runwire::bus;
using namespace std::chrono_literals;

namespace {

/// The seconds at which a beacon of `topic` is due, up to `until`, looking once a second.
std::vector<int> due_seconds(BeaconSchedule& schedule,
                             const Topic& topic,
                             Instant start,
                             int until) {
  std::vector<int> seconds;
  for (int second = 0; second <= until; ++second) {
    while (Topic* due = schedule.take_due(start + std::chrono::seconds(second))) {
      REQUIRE(due == &topic);
      seconds.push_back(second);
    }
  }
  return seconds;
}

const Instant start{1000s};

}  // namespace

TEST_CASE("C01 Beacons: a quiet topic is told of after 1, 2, 4 .. 60 s and then each 60 s",
          "[source]") {
  BeaconSchedule schedule;
  Topic topic{.name = "a/", .number = 1, .state = RunState::open};
  schedule.touched(topic, start);
  CHECK(due_seconds(schedule, topic, start, 200) ==
        std::vector<int>{1, 2, 4, 8, 16, 32, 60, 120, 180});
}

TEST_CASE("Beacons: a run that has ended is told of through the ladder once, then never",
          "[source]") {
  BeaconSchedule schedule;
  Topic topic{.name = "a/", .number = 1, .state = RunState::completed};
  schedule.touched(topic, start);
  CHECK(due_seconds(schedule, topic, start, 300) == std::vector<int>{1, 2, 4, 8, 16, 32, 60});
  CHECK_FALSE(schedule.next_due());
}

TEST_CASE("Beacons: a busy topic needs none, and the ladder begins behind its last event",
          "[source]") {
  BeaconSchedule schedule;
  Topic topic{.name = "a/", .number = 1, .state = RunState::open};
  for (int tenth = 0; tenth <= 50; ++tenth) {
    const Instant now = start + 100ms * tenth;
    CHECK(schedule.take_due(now) == nullptr);
    schedule.touched(topic, now);
  }
  CHECK(due_seconds(schedule, topic, start + 5s, 5) == std::vector<int>{1, 2, 4});
}

TEST_CASE("Beacons: steps that a stopped process has missed are not sent one by one", "[source]") {
  BeaconSchedule schedule;
  Topic topic{.name = "a/", .number = 1, .state = RunState::open};
  schedule.touched(topic, start);
  CHECK(schedule.take_due(start + 50s) == &topic);
  CHECK(schedule.take_due(start + 50s) == nullptr);
  CHECK(schedule.take_due(start + 60s) == &topic);
}

TEST_CASE("Beacons: a topic that was forgotten is never due", "[source]") {
  BeaconSchedule schedule;
  Topic topic{.name = "a/", .number = 1};
  schedule.touched(topic, start);
  schedule.forget(topic);
  CHECK_FALSE(schedule.next_due());
  CHECK(schedule.take_due(start + 100s) == nullptr);
}
