#include "bus/client/join.hpp"

#include "tests/bus/client/event_frames.hpp"

#include <string>

using namespace runwire;
using namespace runwire::client;

namespace {

LogId log_of(unsigned number) {
  LogId log;
  log.bytes[0] = static_cast<std::byte>(number);
  return log;
}

const LogId here = log_of(1);
constexpr Term term{3};

/// A join of one subject and what a server would tell it.
struct Stage {
  Join join;
  std::uint64_t rid = 0;
  std::uint64_t counter = 0;

  explicit Stage(Join::Options options) : join(std::move(options)) {}
  static Stage live(std::uint64_t after) {
    Stage stage({.subject = "run-1", .after = after});
    stage.join.start(here, term);
    return stage;
  }

  void beacon(std::uint64_t last) {
    wire::Live message;
    message.kind = wire::Live::Kind::beacon;
    message.log = here;
    message.term = term;
    message.counter = ++counter;
    message.last = last;
    join.live(message, {});
  }
  void hear(std::uint64_t prev,
            const std::vector<test::Made>& events,
            std::uint64_t n = 0,
            Term of = term) {
    test::Framed framed = test::framed(events);
    wire::Live message;
    message.log = here;
    message.term = of;
    message.counter = n == 0 ? ++counter : n;
    message.subject = "run-1";
    message.span = framed.span;
    message.prev = prev;
    join.live(message, std::move(framed.events));
  }
  /// Sends the read that is wanted, which must be one from `after`.
  void ask(std::uint64_t after, bool wait = false) {
    const auto read = join.want();
    REQUIRE(read);
    CHECK(read->after == after);
    CHECK((read->wait_ms > 0) == wait);
    CHECK(read->log == here);
    join.sent(++rid, *read);
  }
  void answer(std::uint64_t after,
              std::uint64_t last,
              bool end = true,
              const LogId& log = here,
              Term of = term) {
    test::Framed framed = test::framed(test::made_up(after + 1, last));
    wire::PageReply page;
    page.span = framed.span;
    page.next = last;
    page.latest = end ? last : last + 1;
    page.end = end;
    join.page(rid, log, of, std::move(page), std::move(framed.events));
  }
  /// Joins at `last`, everything taken.
  void join_at(std::uint64_t last) {
    beacon(last);
    ask(join.cursor());
    answer(join.cursor(), last);
    CHECK(heard().ends_with("caught_up:" + std::to_string(last) + " "));
  }

  /// `1 2 e caught_up:2 `: durable places, ephemeral numbers, marks.
  std::string heard() {
    std::string text;
    while (const auto item = join.take())
      text += word(*item) + ' ';
    return text;
  }
  static std::string word(const Item& item) {
    if (const auto* caught_up = std::get_if<CaughtUp>(&item))
      return "caught_up:" + std::to_string(caught_up->cursor);
    if (const auto* resumed = std::get_if<Resumed>(&item))
      return "resumed:" + std::to_string(resumed->cursor);
    if (const auto* ended = std::get_if<Ended>(&item))
      return "ended:" + std::to_string(ended->cursor);
    const auto& heard = std::get<Heard>(item);
    if (heard.event.durable) return std::to_string(heard.event.durable->seq.value);
    return "e" + std::to_string(std::to_integer<unsigned>(heard.event.id.bytes[15]));
  }
};

test::Made durable(std::uint64_t place) {
  return {.place = place};
}
test::Made ephemeral(std::uint64_t number) {
  return {.durable = false, .number = number};
}

}  // namespace

TEST_CASE("Join: nothing is read before the subscription is known to be active", "[client]") {
  Stage stage = Stage::live(0);
  CHECK_FALSE(stage.join.want());
  stage.beacon(0);
  stage.ask(0);
}

TEST_CASE("Join: history, then what was buffered, then live, without a repeat", "[client]") {
  Stage stage = Stage::live(1);
  stage.hear(2, {durable(3)});
  stage.beacon(3);
  stage.ask(1);
  stage.hear(3, {durable(4), ephemeral(9), durable(5)});
  stage.hear(5, {durable(6)});
  CHECK(stage.heard().empty());
  stage.answer(1, 4);
  CHECK(stage.heard() == "2 3 4 e9 5 6 caught_up:6 ");
  stage.hear(6, {ephemeral(1), durable(7)});
  CHECK(stage.heard() == "e1 7 ");
  CHECK(stage.join.counters().repeats_dropped == 2);
}

TEST_CASE("Join: an ephemeral event that comes late is dropped and counted", "[client]") {
  Stage stage = Stage::live(0);
  stage.hear(0, {ephemeral(1), durable(1), ephemeral(2)});
  stage.beacon(1);
  stage.ask(0);
  stage.answer(0, 2);
  CHECK(stage.heard() == "1 2 caught_up:2 ");
  CHECK(stage.join.counters().late_dropped == 2);
}

TEST_CASE("Join: a hole sends it back to reading, and the message is taken afterwards",
          "[client]") {
  Stage stage = Stage::live(0);
  stage.join_at(2);
  stage.hear(4, {durable(5), ephemeral(7)}, 9);
  CHECK(stage.heard().empty());
  stage.ask(2);
  stage.answer(2, 5);
  CHECK(stage.heard() == "3 4 5 e7 ");
  CHECK(stage.join.phase() == Join::Phase::live);
  CHECK(stage.join.counters().holes_healed == 1);
  CHECK(stage.join.counters().messages_missed == 7);
}

TEST_CASE("Join: a hole that a read does not fill waits for news", "[client]") {
  Stage stage = Stage::live(0);
  stage.join_at(2);
  stage.hear(4, {durable(5)});
  stage.ask(2);
  stage.answer(2, 2);
  stage.ask(2, true);
  stage.answer(2, 5);
  CHECK(stage.heard() == "3 4 5 ");
}

TEST_CASE("Join: a beacon beyond the cursor is a hole, one at it is not", "[client]") {
  Stage stage = Stage::live(0);
  stage.join_at(2);
  stage.beacon(2);
  CHECK(stage.join.phase() == Join::Phase::live);
  stage.beacon(3);
  stage.ask(2);
  stage.answer(2, 3);
  CHECK(stage.heard() == "3 ");
  CHECK(stage.join.phase() == Join::Phase::live);
}

TEST_CASE("Join: a message that came before gives nothing twice, not even what is ephemeral",
          "[client]") {
  Stage stage = Stage::live(0);
  stage.join_at(1);
  stage.hear(1, {durable(2), ephemeral(4)}, 10);
  stage.hear(1, {durable(2), ephemeral(4)}, 10);
  CHECK(stage.heard() == "2 e4 ");
}

TEST_CASE("Join: over its buffer it lets go and reads once more", "[client]") {
  Stage stage({.subject = "run-1", .buffer_messages_max = 2});
  stage.join.start(here, term);
  stage.beacon(1);
  stage.ask(0);
  for (std::uint64_t place = 2; place <= 4; ++place)
    stage.hear(place - 1, {durable(place)});
  stage.answer(0, 1);
  CHECK(stage.join.phase() == Join::Phase::reading);
  stage.ask(1);
  stage.answer(1, 4);
  CHECK(stage.heard() == "1 2 3 4 caught_up:4 ");
}

TEST_CASE("Join: a new term is joined anew from the cursor, also while reading", "[client]") {
  Stage stage = Stage::live(0);
  stage.beacon(5);
  stage.ask(0);
  stage.answer(0, 3, false);
  stage.hear(5, {durable(6)}, 0, Term{4});
  CHECK(stage.join.restart());
  CHECK_FALSE(stage.join.want());
  stage.join.start(here, Term{4});
  CHECK(stage.heard() == "1 2 3 resumed:3 ");
  CHECK(stage.join.phase() == Join::Phase::joining);
  stage.answer(3, 5);
  CHECK(stage.heard().empty());
  CHECK(stage.join.counters().resumes == 1);
}

TEST_CASE("Join: what an older term still says is ignored", "[client]") {
  Stage stage = Stage::live(0);
  stage.join_at(1);
  stage.hear(1, {durable(2)}, 0, Term{2});
  CHECK(stage.heard().empty());
  CHECK_FALSE(stage.join.restart());
}

TEST_CASE("Join: another log ends it", "[client]") {
  Stage stage = Stage::live(0);
  stage.beacon(1);
  stage.ask(0);
  stage.answer(0, 1, true, log_of(2));
  REQUIRE(stage.join.failure());
  CHECK(stage.join.failure()->code == ErrorCode::cursor_foreign);
  CHECK(stage.join.failure()->text("requested_log") == to_string(here));
  CHECK(stage.heard().empty());
}

TEST_CASE("Join: a cursor of another log is refused at the start", "[client]") {
  Join join({.after = 4, .log = log_of(2)});
  join.start(here, term);
  REQUIRE(join.failure());
  CHECK(join.failure()->code == ErrorCode::cursor_foreign);
}

TEST_CASE("Join: a page with a hole is an error, never a gap", "[client]") {
  Stage stage = Stage::live(0);
  stage.beacon(3);
  stage.ask(0);
  test::Framed framed = test::framed(test::made_up(2, 3));
  wire::PageReply page;
  page.span = framed.span;
  page.next = 3;
  page.end = true;
  stage.join.page(stage.rid, here, term, std::move(page), std::move(framed.events));
  CHECK(stage.join.failure());
  CHECK(stage.heard().empty());
}

TEST_CASE("Join: without following it ends at the end of history", "[client]") {
  Stage stage({.subject = "run-1", .follow = false});
  stage.join.start(here, term);
  stage.ask(0);
  stage.answer(0, 2);
  CHECK(stage.heard() == "1 2 ended:2 ");
  CHECK(stage.join.phase() == Join::Phase::ended);
  CHECK_FALSE(stage.join.want());
}

TEST_CASE("Join: at level committed news come by reading that waits", "[client]") {
  Stage stage({.subject = "run-1", .level = wire::Level::committed});
  stage.join.start(here, term);
  stage.ask(0);
  stage.answer(0, 2);
  CHECK(stage.heard() == "1 2 caught_up:2 ");
  stage.ask(2, true);
  stage.answer(2, 3, true, here, Term{4});
  CHECK(stage.heard() == "3 ");
  stage.ask(3, true);
}
