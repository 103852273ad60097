#include "bus/client/appender.hpp"

#include "bus/client/observer.hpp"
#include "codec/wire/event_codec.hpp"
#include "tests/bus/client/server_rig.hpp"

#include <algorithm>
#include <map>
#include <thread>

using namespace runwire;
using namespace runwire::client;
using namespace std::chrono_literals;

namespace {

/// All durable events of a subject, by reading.
std::vector<std::uint64_t> numbers_of(Connection& connection, const std::string& subject) {
  std::vector<std::uint64_t> seqs;
  wire::Read read{.subject = subject, .level = wire::Level::committed};
  while (true) {
    auto page = connection.call(read);
    REQUIRE(page);
    const auto& reply = std::get<wire::PageReply>(page->reply.answer);
    if (reply.span.count > 0) {
      const auto events = wire::decode_events(page->events.view());
      REQUIRE(events);
      for (const EventView& event : *events) {
        const std::string data(event.data);
        seqs.push_back(std::stoull(data.substr(data.find(':') + 1)));
      }
    }
    read.after = reply.next;
    if (reply.end) return seqs;
  }
}

}  // namespace

TEST_CASE("Appender: a receipt has the numbers; the same id again is the first receipt",
          "[client]") {
  const test::ServerRig rig;
  const auto appender = rig.appender();
  std::vector<Draft> events = test::drafts(0, 3);
  SystemIds ids;
  for (Draft& draft : events)
    draft.id = ids.event_id(SystemClock().wall());
  const Appended first = test::appended(*appender, "run-1", events);
  CHECK(first.reply.seqs == std::vector{Sequence{1}, Sequence{2}, Sequence{3}});
  CHECK(first.reply.subject == "run-1");
  const Appended second = test::appended(*appender, "run-1", events);
  CHECK(second.reply.positions == first.reply.positions);
  CHECK(second.reply.duplicates.size() == 3);
}

TEST_CASE("Appender: a refusal says which event, and the next append goes on", "[client]") {
  const test::ServerRig rig;
  const auto appender = rig.appender();
  std::vector<Draft> events = test::drafts(0, 2);
  events.push_back({.type = "run.completed", .data = "{}"});
  const auto refused = appender->append("run-1", events);
  REQUIRE(refused);
  CHECK(refused->reply.taken == 2);
  REQUIRE(refused->error);
  CHECK(refused->error->code == ErrorCode::lifecycle);
  CHECK(test::appended(*appender, "run-1", test::drafts(2, 1)).reply.seqs ==
        std::vector{Sequence{3}});
}

TEST_CASE("Appender: what no request may hold is refused before it is sent", "[client]") {
  const test::ServerRig rig;
  const auto appender = rig.appender();
  const std::string large = '"' + std::string(limits::data_bytes_max, 'x') + '"';
  const auto refused = appender->append("run-1", {{.type = "acme.made", .data = large}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::too_large);
  CHECK(test::appended(*appender, "run-1", test::drafts(0, 1)).reply.seqs ==
        std::vector{Sequence{1}});
}

TEST_CASE("Appender: more events than one request holds are one append", "[client]") {
  const test::ServerRig rig;
  const auto appender = rig.appender();
  const Appended done =
      test::appended(*appender, "run-1", test::drafts(0, 2 * limits::append_events_max + 1));
  CHECK(done.reply.seqs.back() == Sequence{2 * limits::append_events_max + 1});
}

TEST_CASE("Appender: submitted appends of many subjects keep the order of each", "[client]") {
  const test::ServerRig rig;
  const auto appender = rig.appender({.in_flight_max = 16});
  std::map<std::string, std::vector<Sequence>> told;
  for (std::uint64_t number = 0; number < 600; ++number) {
    const std::string subject = "run-" + std::to_string(number % 5);
    wire::Append request{.subject = subject, .events = test::drafts(number, 1)};
    REQUIRE(appender->submit(std::move(request), [&told, subject](Result<Appended> done) {
      REQUIRE(done);
      REQUIRE_FALSE(done->error);
      told[subject].push_back(done->reply.seqs.at(0));
    }));
  }
  REQUIRE(appender->flush());
  REQUIRE(told.size() == 5);
  for (std::uint64_t run = 0; run < 5; ++run) {
    const std::string subject = "run-" + std::to_string(run);
    REQUIRE(told[subject].size() == 120);
    CHECK(std::ranges::is_sorted(told[subject]));
    const auto numbers = numbers_of(appender->connection(), subject);
    REQUIRE(numbers.size() == 120);
    for (std::uint64_t at = 0; at < 120; ++at)
      REQUIRE(numbers[at] == run + 5 * at);
  }
}

TEST_CASE("Appender: what was submitted behind a refusal is refused, what comes later is not",
          "[client]") {
  const test::ServerRig rig;
  const auto appender = rig.appender();
  std::vector<std::string> told;
  const auto note = [&told](Result<Appended> done) {
    REQUIRE(done);
    told.emplace_back(done->error ? to_string(done->error->code) : "taken");
  };
  REQUIRE(appender->submit(
      {.subject = "run-1", .events = {{.type = "run.completed", .data = "{}"}}}, note));
  REQUIRE(appender->submit({.subject = "run-1", .events = test::drafts(1, 1)}, note));
  REQUIRE(appender->flush());
  REQUIRE(appender->submit({.subject = "run-1", .events = test::drafts(2, 1)}, note));
  REQUIRE(appender->flush());
  REQUIRE(told.size() == 3);
  CHECK(told[0] == "lifecycle");
  CHECK(told[1] == "out_of_order");
  CHECK(told[2] == "taken");
  CHECK(numbers_of(appender->connection(), "run-1") == std::vector<std::uint64_t>{2});
}

TEST_CASE("Appender: a done may submit, and nothing else", "[client]") {
  const test::ServerRig rig;
  const auto appender = rig.appender();
  int told = 0;
  REQUIRE(
      appender->submit({.subject = "a", .events = test::drafts(0, 1)}, [&](Result<Appended> done) {
        REQUIRE(done);
        CHECK(appender->flush().error().code == ErrorCode::invalid);
        CHECK(appender->append("a", test::drafts(5, 1)).error().code == ErrorCode::invalid);
        ++told;
        REQUIRE(appender->submit({.subject = "a", .events = test::drafts(1, 1)},
                                 [&](Result<Appended> next) {
                                   REQUIRE(next);
                                   ++told;
                                 }));
      }));
  REQUIRE(appender->flush());
  CHECK(told == 2);
}

TEST_CASE("Appender: over the death of servers every append is taken once and in order",
          "[client]") {
  test::ServerRig rig;
  const auto appender = rig.appender({.in_flight_max = 32});
  constexpr std::uint64_t total = 3'000;
  std::uint64_t taken = 0;
  for (std::uint64_t number = 0; number < total; ++number) {
    if (number % 1'000 == 500) rig.restart();
    wire::Append request{.subject = "run-1", .events = test::drafts(number, 1)};
    REQUIRE(appender->submit(std::move(request), [&taken](Result<Appended> done) {
      INFO((done ? std::string() : describe(done.error())));
      REQUIRE(done);
      INFO((done->error ? describe(*done->error) : std::string()));
      REQUIRE_FALSE(done->error);
      ++taken;
    }));
  }
  REQUIRE(appender->flush());
  CHECK(taken == total);
  const auto numbers = numbers_of(appender->connection(), "run-1");
  REQUIRE(numbers.size() == total);
  for (std::uint64_t at = 0; at < total; ++at)
    REQUIRE(numbers[at] == at);
}

TEST_CASE("Appender: without a server it gives up at the deadline, with a typed error",
          "[client]") {
  test::ServerRig rig;
  const auto appender = rig.appender({.deadline = 300ms});
  rig.stop();
  const auto lost = appender->append("run-1", test::drafts(0, 1));
  REQUIRE_FALSE(lost);
  CHECK((lost.error().code == ErrorCode::timed_out || lost.error().code == ErrorCode::unavailable));
  rig.start();
  CHECK(test::appended(*appender, "run-1", test::drafts(0, 1)).reply.seqs ==
        std::vector{Sequence{1}});
}

TEST_CASE("Appender: backpressure is waited out", "[client]") {
  test::ServerRig rig({.required = {"audit"}, .window_events_max = 4});
  const auto appender = rig.appender({.deadline = 20s});
  test::appended(*appender, "run-1", test::drafts(0, 4));
  // Nobody acks until the appender has been refused at least once.
  bool done = false;
  REQUIRE(appender->submit({.subject = "run-1", .events = test::drafts(4, 1)},
                           [&done](Result<Appended> answer) {
                             REQUIRE(answer);
                             REQUIRE_FALSE(answer->error);
                             done = true;
                           }));
  REQUIRE(appender->idle(100ms));
  CHECK_FALSE(done);
  auto observer = Observer::open({.connect = rig.connect(), .name = "audit"});
  REQUIRE(observer);
  for (int round = 0; round < 200 && !done; ++round) {
    const auto owed = (*observer)->next(20ms);
    REQUIRE(owed);
    if (*owed) REQUIRE((*observer)->ack((*owed)->last));
    REQUIRE(appender->idle(20ms));
  }
  CHECK(done);
}

TEST_CASE("Appender: a claim keeps others out, is renewed, and is taken again after a restart",
          "[client]") {
  test::ServerRig rig({.lease = 600ms});
  const auto owner = rig.appender();
  const auto other = rig.appender();
  REQUIRE(owner->claim("run-1", Epoch{1}));
  test::appended(*owner, "run-1", {{.type = "run.started", .data = "{}"}});
  const auto refused = other->append("run-1", test::drafts(0, 1));
  REQUIRE(refused);
  REQUIRE(refused->error);
  CHECK(refused->error->code == ErrorCode::not_owner);
  const Status fenced = other->claim("run-1", Epoch{1});
  REQUIRE_FALSE(fenced);
  CHECK(fenced.error().code == ErrorCode::fenced);
  CHECK(fenced.error().number("epoch") == 1U);
  REQUIRE(owner->idle(1'500ms));
  test::appended(*owner, "run-1", test::drafts(1, 1));
  rig.restart();
  test::appended(*owner, "run-1", test::drafts(2, 1));
  REQUIRE(owner->idle(900ms));
  test::appended(*owner, "run-1", {{.type = "run.completed", .data = "{}"}});
}

TEST_CASE("Appender: taken over under a higher epoch, the old owner hears that it is fenced",
          "[client]") {
  const test::ServerRig rig;
  const auto older = rig.appender();
  const auto newer = rig.appender();
  REQUIRE(older->claim("run-1", Epoch{1}));
  REQUIRE(newer->claim("run-1", Epoch{2}));
  const auto refused = older->append("run-1", test::drafts(0, 1));
  REQUIRE(refused);
  REQUIRE(refused->error);
  CHECK(refused->error->code == ErrorCode::fenced);
  test::appended(*newer, "run-1", test::drafts(1, 1));
}

TEST_CASE("Appender: another thread is refused at once", "[client]") {
  const test::ServerRig rig;
  const auto appender = rig.appender();
  Status submitted;
  Status flushed;
  std::thread([&] {
    submitted =
        appender->submit({.subject = "a", .events = {{.type = "acme.made", .data = "{}"}}}, {});
    flushed = appender->idle(0ms);
  }).join();
  REQUIRE_FALSE(submitted);
  CHECK(submitted.error().code == ErrorCode::invalid);
  REQUIRE_FALSE(flushed);
}
