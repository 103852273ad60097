#include "bus/client/events.hpp"

#include "tests/bus/client/server_rig.hpp"

#include <atomic>
#include <thread>

using namespace runwire;
using namespace runwire::client;
using namespace std::chrono_literals;

namespace {

std::unique_ptr<Events> opened(const test::ServerRig& rig, EventsOptions options = {}) {
  options.connect = rig.connect();
  auto events = Events::open(options);
  REQUIRE(events);
  return std::move(*events);
}

/// The next item, or the test fails.
Item next_of(Events& events, std::chrono::milliseconds timeout = 10s) {
  auto item = events.next(timeout);
  INFO((item ? std::string() : describe(item.error())));
  REQUIRE(item);
  REQUIRE(*item);
  return std::move(**item);
}

void await_caught_up(Events& events) {
  while (!std::holds_alternative<CaughtUp>(next_of(events))) {
  }
}

/// Durable events until `last` was heard; their places must be `after + 1`, `after + 2` ...
std::uint64_t hear_until(Events& events,
                         std::uint64_t after,
                         std::uint64_t last,
                         bool whole_log = false) {
  std::uint64_t place = after;
  while (place < last) {
    const Item item = next_of(events);
    const auto* heard = std::get_if<Heard>(&item);
    if (heard == nullptr || !heard->event.durable) continue;
    const std::uint64_t here = whole_log ? heard->position.value : heard->event.durable->seq.value;
    REQUIRE(here == ++place);
    REQUIRE(events.cursor() == place);
  }
  return place;
}

ErrorCode error_of(Events& events) {
  while (true) {
    const auto item = events.next(5s);
    if (!item) return item.error().code;
    REQUIRE(*item);
  }
}

}  // namespace

TEST_CASE("Events: history, then caught up, then live with ephemeral events in their place",
          "[client]") {
  const test::ServerRig rig;
  const auto appender = rig.appender();
  test::appended(*appender, "run-1", test::drafts(0, 3'000));
  const auto events = opened(rig, {.subject = "run-1", .after = 10});
  hear_until(*events, 10, 3'000);
  await_caught_up(*events);
  test::appended(*appender, "run-1", {test::draft(1), test::draft(2, false), test::draft(3)});
  CHECK(std::get<Heard>(next_of(*events)).event.durable->seq == Sequence{3'001});
  const Item ephemeral = next_of(*events);
  CHECK_FALSE(std::get<Heard>(ephemeral).event.durable);
  CHECK(std::get<Heard>(ephemeral).position == Position{0});
  CHECK(std::get<Heard>(next_of(*events)).event.durable->seq == Sequence{3'002});
  CHECK(events->counters().ephemeral == 1);
}

TEST_CASE("Events: the whole log is in position order", "[client]") {
  const test::ServerRig rig;
  const auto appender = rig.appender();
  const auto events = opened(rig);
  await_caught_up(*events);
  for (std::uint64_t number = 0; number < 40; ++number) {
    test::appended(*appender, "run-" + std::to_string(number % 4), test::drafts(number, 2));
  }
  hear_until(*events, 0, 80, true);
}

TEST_CASE("Events: what is handed out is what was encoded", "[client]") {
  const test::ServerRig rig;
  const auto appender = rig.appender();
  const auto events = opened(rig, {.subject = "run-1"});
  await_caught_up(*events);
  test::appended(*appender, "run-1", test::drafts(7, 1));
  const Heard live = std::get<Heard>(next_of(*events));
  const auto replay = opened(rig, {.subject = "run-1", .follow = false});
  const Heard read = std::get<Heard>(next_of(*replay));
  CHECK(live.event == read.event);
  CHECK(live.encoded == read.encoded);
  CHECK(live.event.data == R"({"number":7})");
}

TEST_CASE("Events: without following it ends, and stays ended", "[client]") {
  const test::ServerRig rig;
  const auto appender = rig.appender();
  test::appended(*appender, "run-1", test::drafts(0, 5));
  const auto events = opened(rig, {.subject = "run-1", .follow = false});
  hear_until(*events, 0, 5);
  CHECK(std::get<Ended>(next_of(*events)).cursor == 5);
  CHECK(std::get<Ended>(next_of(*events)).cursor == 5);
}

TEST_CASE("Events: from the end there is nothing old", "[client]") {
  const test::ServerRig rig;
  const auto appender = rig.appender();
  test::appended(*appender, "run-1", test::drafts(0, 5));
  const auto of_run = opened(rig, {.subject = "run-1", .from_end = true});
  const auto of_log = opened(rig, {.from_end = true});
  const auto of_nothing = opened(rig, {.subject = "run-none", .from_end = true});
  CHECK(std::get<CaughtUp>(next_of(*of_run)).cursor == 5);
  CHECK(std::get<CaughtUp>(next_of(*of_log)).cursor == 5);
  CHECK(std::get<CaughtUp>(next_of(*of_nothing)).cursor == 0);
  test::appended(*appender, "run-1", test::drafts(5, 1));
  hear_until(*of_run, 5, 6);
  hear_until(*of_log, 5, 6, true);
}

TEST_CASE("Events: ephemeral events are left out where they are not wanted", "[client]") {
  const test::ServerRig rig;
  const auto appender = rig.appender();
  const auto events = opened(rig, {.subject = "run-1", .ephemeral = false});
  await_caught_up(*events);
  test::appended(*appender, "run-1", {test::draft(1, false), test::draft(2)});
  CHECK(std::get<Heard>(next_of(*events)).event.durable);
}

TEST_CASE("Events: a timeout loses nothing", "[client]") {
  const test::ServerRig rig;
  const auto appender = rig.appender();
  const auto events = opened(rig, {.subject = "run-1"});
  await_caught_up(*events);
  std::uint64_t place = 0;
  for (std::uint64_t number = 0; number < 300; ++number) {
    REQUIRE(appender->submit({.subject = "run-1", .events = test::drafts(number, 1)}, {}));
    const auto item = events->next(0ms);
    REQUIRE(item);
    if (*item) REQUIRE(std::get<Heard>(**item).event.durable->seq.value == ++place);
  }
  REQUIRE(appender->flush());
  hear_until(*events, place, 300);
}

TEST_CASE("Events: cursors that mean nothing here are typed errors", "[client]") {
  const test::ServerRig rig;
  const auto appender = rig.appender();
  test::appended(*appender, "run-1", test::drafts(0, 2));
  const auto ahead = opened(rig, {.subject = "run-1", .after = 3});
  CHECK(error_of(*ahead) == ErrorCode::cursor_ahead);
  CHECK(error_of(*ahead) == ErrorCode::cursor_ahead);
  LogId other;
  other.bytes[3] = std::byte{9};
  const auto foreign = opened(rig, {.subject = "run-1", .log = other});
  CHECK(error_of(*foreign) == ErrorCode::cursor_foreign);
}

TEST_CASE("Events: nobody at the endpoint is unavailable", "[client]") {
  test::ServerRig rig;
  rig.stop();
  ConnectOptions connect = rig.connect();
  connect.timeout = 200ms;
  const auto events = Events::open({.connect = connect});
  REQUIRE_FALSE(events);
  CHECK(events.error().code == ErrorCode::unavailable);
}

TEST_CASE("Events: a server that comes back is joined again from the cursor", "[client]") {
  test::ServerRig rig;
  const auto appender = rig.appender();
  const auto of_run = opened(rig, {.subject = "run-1"});
  const auto of_log = opened(rig);
  const auto committed = opened(rig, {.subject = "run-1", .level = wire::Level::committed});
  test::appended(*appender, "run-1", test::drafts(0, 3));
  hear_until(*of_run, 0, 3);
  hear_until(*of_log, 0, 3, true);
  hear_until(*committed, 0, 3);
  rig.restart();
  test::appended(*appender, "run-1", test::drafts(3, 3));
  hear_until(*of_run, 3, 6);
  hear_until(*of_log, 3, 6, true);
  hear_until(*committed, 3, 6);
  CHECK(of_run->counters().resumes == 1);
}

TEST_CASE("Events: a server that comes back with another log ends it", "[client]") {
  test::ServerRig rig;
  const auto events = opened(rig, {.subject = "run-1"});
  await_caught_up(*events);
  rig.stop();
  rig.replace_log();
  rig.start();
  CHECK(error_of(*events) == ErrorCode::cursor_foreign);
}

TEST_CASE("Events: a reader that waits for nothing hears heartbeats and is not cut", "[client]") {
  const test::ServerRig rig;
  const auto events = opened(rig, {.subject = "run-1"});
  await_caught_up(*events);
  const auto item = events->next(4'500ms);
  REQUIRE(item);
  CHECK_FALSE(*item);
  CHECK(events->counters().resumes == 0);
}

TEST_CASE("Events: readers that start at any moment of a busy log hear all of it, over restarts",
          "[client]") {
  test::ServerRig rig;
  constexpr std::uint64_t total = 4'000;
  std::atomic<std::uint64_t> taken{0};
  std::jthread writer([&] {
    auto appender = Appender::open({.connect = rig.connect(), .in_flight_max = 16});
    if (!appender) return;
    for (std::uint64_t number = 0; number < total; ++number) {
      wire::Append request{.subject = "run-1",
                           .events = {test::draft(number), test::draft(number, false)}};
      if (!(*appender)->submit(std::move(request), [&taken](Result<Appended> done) {
            if (done && !done->error) ++taken;
          })) {
        return;
      }
    }
    static_cast<void>((*appender)->flush());
  });
  std::vector<std::unique_ptr<Events>> readers;
  std::vector<std::uint64_t> places;
  for (std::uint64_t reader = 0; reader < 8; ++reader) {
    readers.push_back(
        opened(rig,
               {.subject = reader % 2 == 0 ? std::optional<std::string>("run-1") : std::nullopt,
                .buffer_messages_max = 1 + reader * 8}));
    places.push_back(0);
    for (std::uint64_t& place : places) {
      const auto at = static_cast<std::size_t>(&place - places.data());
      place = hear_until(*readers[at], place, place + 150, at % 2 == 1);
    }
    if (reader == 2 || reader == 5) rig.restart();
  }
  for (std::size_t reader = 0; reader < readers.size(); ++reader) {
    hear_until(*readers[reader], places[reader], total, reader % 2 == 1);
  }
  writer.join();
  CHECK(taken == total);
}

TEST_CASE("Events: another thread is refused at once", "[client]") {
  const test::ServerRig rig;
  const auto events = opened(rig);
  std::optional<Error> error;
  std::thread([&] {
    if (auto item = events->next(1s); !item) error = item.error();
  }).join();
  REQUIRE(error);
  CHECK(error->code == ErrorCode::invalid);
}
