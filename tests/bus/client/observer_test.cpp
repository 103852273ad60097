#include "bus/client/observer.hpp"

#include "tests/bus/client/server_rig.hpp"

using namespace runwire;
using namespace runwire::client;
using namespace std::chrono_literals;

namespace {

std::unique_ptr<Observer> opened(const test::ServerRig& rig, ObserverOptions options = {}) {
  options.connect = rig.connect();
  if (options.name.empty()) options.name = "audit";
  auto observer = Observer::open(options);
  INFO((observer ? std::string() : describe(observer.error())));
  REQUIRE(observer);
  return std::move(*observer);
}

Owed next_of(Observer& observer, std::chrono::milliseconds timeout = 15s) {
  auto owed = observer.next(timeout);
  INFO((owed ? std::string() : describe(owed.error())));
  REQUIRE(owed);
  REQUIRE(*owed);
  return std::move(**owed);
}

/// Takes and acks until `last`; what comes must be `after + 1`, `after + 2` ...
void serve_until(Observer& observer, std::uint64_t after, std::uint64_t last) {
  while (after < last) {
    const Owed owed = next_of(observer);
    REQUIRE(owed.events.size() == owed.positions.size());
    for (const Position position : owed.positions)
      REQUIRE(position.value == ++after);
    REQUIRE(owed.last.value == after);
    REQUIRE(observer.ack(owed.last));
  }
}

/// Serves `observer` until the server counts `position` as acknowledged.
void await_acknowledged(test::ServerRig& rig, Observer& observer, std::uint64_t position) {
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (rig.engine().positions().acknowledged.value < position) {
    REQUIRE(std::chrono::steady_clock::now() < until);
    const auto owed = observer.next(10ms);
    REQUIRE(owed);
    REQUIRE_FALSE(*owed);
  }
}

ErrorCode error_of(Observer& observer) {
  while (true) {
    const auto owed = observer.next(10s);
    if (!owed) return owed.error().code;
    REQUIRE(*owed);
  }
}

EngineOptions required() {
  return {.required = {"audit"}};
}

}  // namespace

TEST_CASE("Observer: takes what is owed in position order, and its acks let appends end",
          "[client]") {
  test::ServerRig rig(required());
  const auto appender = rig.appender();
  const auto observer = opened(rig);
  test::appended(*appender, "run-1", test::drafts(0, 2'500));
  serve_until(*observer, 0, 2'500);
  await_acknowledged(rig, *observer, 2'500);
  CHECK(observer->acked() == Position{2'500});
  CHECK(observer->repeats_dropped() == 0);
}

TEST_CASE("Observer: a position that was not handed out cannot be acked", "[client]") {
  const test::ServerRig rig(required());
  const auto appender = rig.appender();
  const auto observer = opened(rig);
  test::appended(*appender, "run-1", test::drafts(0, 2));
  const Owed owed = next_of(*observer);
  const Status ahead = observer->ack(Position{owed.last.value + 1});
  REQUIRE_FALSE(ahead);
  CHECK(ahead.error().code == ErrorCode::invalid);
  CHECK_FALSE(observer->refuse(Position{owed.last.value + 1}, "no"));
  CHECK(observer->ack(owed.last));
}

TEST_CASE("Observer: a refused event comes again, and nothing behind it before", "[client]") {
  const test::ServerRig rig(required());
  const auto appender = rig.appender();
  const auto observer = opened(rig);
  test::appended(*appender, "run-1", test::drafts(0, 5));
  Owed owed = next_of(*observer);
  while (owed.last.value < 3)
    owed = next_of(*observer);
  REQUIRE(observer->refuse(Position{3}, "disk is full"));
  CHECK(observer->acked() == Position{2});
  serve_until(*observer, 2, 5);
}

TEST_CASE(
    "Observer: what was not acked by its deadline comes again, what was is dropped and acked again",
    "[client]") {
  EngineOptions options = required();
  options.ack_deadline = 200ms;
  test::ServerRig rig(options);
  const auto appender = rig.appender();
  const auto observer = opened(rig);
  test::appended(*appender, "run-1", test::drafts(0, 3));
  CHECK(next_of(*observer).first == Position{1});
  const Owed again = next_of(*observer);
  CHECK(again.first == Position{1});
  serve_until(*observer, 0, 0);
  REQUIRE(observer->ack(Position{3}));
  await_acknowledged(rig, *observer, 3);
}

TEST_CASE("Observer: after a restart of the server it attaches again and misses nothing",
          "[client]") {
  test::ServerRig rig(required());
  const auto appender = rig.appender();
  const auto observer = opened(rig);
  test::appended(*appender, "run-1", test::drafts(0, 4));
  serve_until(*observer, 0, 4);
  rig.restart();
  test::appended(*appender, "run-1", test::drafts(4, 4));
  serve_until(*observer, 4, 8);
  await_acknowledged(rig, *observer, 8);
  CHECK(observer->repeats_dropped() <= 4);
}

TEST_CASE("Observer: a newer consumer of the name fences the older one for good", "[client]") {
  const test::ServerRig rig(required());
  const auto appender = rig.appender();
  const auto older = opened(rig);
  const auto newer = opened(rig);
  CHECK(error_of(*older) == ErrorCode::fenced);
  CHECK(error_of(*older) == ErrorCode::fenced);
  const Status late = older->ack(Position{0});
  REQUIRE_FALSE(late);
  CHECK(late.error().code == ErrorCode::fenced);
  test::appended(*appender, "run-1", test::drafts(0, 1));
  serve_until(*newer, 0, 1);
}

TEST_CASE("Observer: its own cursor, where it is ahead, is acked again and not handed out",
          "[client]") {
  test::ServerRig rig(required());
  const auto appender = rig.appender();
  test::appended(*appender, "run-1", test::drafts(0, 6));
  const auto observer = opened(rig, {.position = Position{4}});
  serve_until(*observer, 4, 6);
  await_acknowledged(rig, *observer, 6);
}

TEST_CASE("Observer: its own cursor, where it is behind, is caught up from the log first",
          "[client]") {
  test::ServerRig rig(required());
  const auto appender = rig.appender();
  {
    const auto first = opened(rig);
    test::appended(*appender, "run-1", test::drafts(0, 1'500));
    serve_until(*first, 0, 1'500);
    await_acknowledged(rig, *first, 1'500);
  }
  const auto second = opened(rig, {.position = Position{100}});
  test::appended(*appender, "run-1", test::drafts(1'500, 5));
  serve_until(*second, 100, 1'505);
  await_acknowledged(rig, *second, 1'505);
}

TEST_CASE("Observer: names and cursors that mean nothing here are typed errors", "[client]") {
  const test::ServerRig rig(required());
  const auto unknown = Observer::open({.connect = rig.connect(), .name = "nobody"});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == ErrorCode::not_found);
  const auto ahead =
      Observer::open({.connect = rig.connect(), .name = "audit", .position = Position{7}});
  REQUIRE_FALSE(ahead);
  CHECK(ahead.error().code == ErrorCode::cursor_ahead);
  LogId other;
  other.bytes[0] = std::byte{1};
  const auto foreign = Observer::open(
      {.connect = rig.connect(), .name = "audit", .log = other, .position = Position{0}});
  REQUIRE_FALSE(foreign);
  CHECK(foreign.error().code == ErrorCode::cursor_foreign);
}

TEST_CASE("Observer: one that leaves has said what it did, and the next goes on behind it",
          "[client]") {
  const test::ServerRig rig(required());
  const auto appender = rig.appender();
  test::appended(*appender, "run-1", test::drafts(0, 4));
  {
    const auto first = opened(rig);
    Owed owed = next_of(*first);
    while (owed.last.value < 4)
      owed = next_of(*first);
    REQUIRE(first->ack(Position{3}));
  }
  const auto second = opened(rig);
  const Owed owed = next_of(*second);
  CHECK(owed.first == Position{4});
  CHECK(owed.last == Position{4});
}

TEST_CASE("Observer: an ack is on record before its consumer has left", "[client]") {
  test::ServerRig rig(required());
  const auto appender = rig.appender();
  for (std::uint64_t life = 1; life <= 100; ++life) {
    const auto observer = opened(rig);
    test::appended(*appender, "run-1", test::drafts(life, 1));
    const Owed owed = next_of(*observer);
    REQUIRE(owed.first == Position{life});
    REQUIRE(observer->ack(owed.last));
  }
  CHECK(rig.engine().positions().acknowledged == Position{100});
}
