#include "bus/client/history.hpp"

#include "tests/bus/client/event_frames.hpp"

#include <deque>
#include <random>

using namespace runwire;
using namespace runwire::client;

namespace {

struct Asked {
  std::uint64_t rid = 0;
  wire::Read read{};
};

/// A server with events 1 to `latest`, whose pages are at most `page_max` long.
struct Server {
  std::uint64_t latest = 0;
  std::uint64_t page_max = limits::page_events_max;

  void answer(History& history, const Asked& asked) const {
    const std::uint64_t after = asked.read.after;
    const std::uint64_t count =
        std::min({latest - std::min(latest, after), asked.read.max_events, page_max});
    wire::PageReply reply;
    reply.next = after + count;
    reply.latest = latest;
    reply.end = reply.next >= latest;
    Batch batch;
    if (count > 0) {
      test::Framed framed = test::framed(test::made_up(after + 1, after + count));
      reply.span = framed.span;
      auto made = make_batch(std::move(framed.events), framed.span, true, after);
      REQUIRE(made);
      batch = std::move(*made);
    }
    history.came(asked.rid, std::move(reply), std::move(batch));
  }
};

std::deque<Asked> send_all(History& history, std::uint64_t& rid, bool wait = false) {
  std::deque<Asked> sent;
  while (const auto read = history.want(wait)) {
    sent.push_back({++rid, *read});
    history.sent(rid, *read);
    REQUIRE(sent.size() <= 100);
  }
  return sent;
}

}  // namespace

TEST_CASE("History: one read until the end is known, then several at once", "[client]") {
  History history({.outstanding_max = 4});
  history.start(10);
  std::uint64_t rid = 0;
  auto sent = send_all(history, rid);
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].read.after == 10);
  CHECK(sent[0].read.wait_ms == 0);
  const Server server{.latest = 10'000};
  server.answer(history, sent[0]);
  REQUIRE(history.pop());
  CHECK(history.cursor() == 10 + limits::page_events_max);
  sent = send_all(history, rid);
  REQUIRE(sent.size() == 4);
  CHECK(sent[3].read.after == 10 + 4 * limits::page_events_max);
}

TEST_CASE("History: pages that come in another order are given in order", "[client]") {
  History history({.outstanding_max = 4});
  history.start(0);
  std::uint64_t rid = 0;
  const Server server{.latest = 5'000};
  server.answer(history, send_all(history, rid)[0]);
  REQUIRE(history.pop());
  const auto sent = send_all(history, rid);
  REQUIRE(sent.size() >= 3);
  server.answer(history, sent[2]);
  server.answer(history, sent[1]);
  CHECK_FALSE(history.pop());
  server.answer(history, sent[0]);
  CHECK(history.pop());
  CHECK(history.pop());
  CHECK(history.pop());
  CHECK(history.cursor() == 4 * limits::page_events_max);
}

TEST_CASE("History: a read at the end waits for news, and one that does not is asked beside it",
          "[client]") {
  History history({.wait_ms = 700});
  history.start(7);
  std::uint64_t rid = 0;
  const auto waiting = send_all(history, rid, true);
  REQUIRE(waiting.size() == 1);
  CHECK(waiting[0].read.wait_ms == 700);
  CHECK_FALSE(history.want(true));
  const auto at_once = history.want(false);
  REQUIRE(at_once);
  CHECK(at_once->wait_ms == 0);
}

TEST_CASE("History: a read that fails is wanted again; what was asked before start() is forgotten",
          "[client]") {
  History history({});
  history.start(0);
  std::uint64_t rid = 0;
  auto sent = send_all(history, rid);
  history.failed(sent[0].rid);
  sent = send_all(history, rid);
  REQUIRE(sent.size() == 1);
  history.start(3);
  Server{.latest = 50}.answer(history, sent[0]);
  CHECK_FALSE(history.pop());
  CHECK(history.want(false)->after == 3);
}

TEST_CASE("History: whatever order, loss and page size, every event once and in order",
          "[client][property]") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    Server server{.latest = random() % 6'000, .page_max = 1 + random() % limits::page_events_max};
    const std::uint64_t from = random() % (server.latest + 1);
    History history({.outstanding_max = 1 + random() % 6});
    history.start(from);
    std::uint64_t rid = 0;
    std::uint64_t place = from;
    std::deque<Asked> under_way;
    for (int step = 0; place < server.latest; ++step) {
      REQUIRE(step < 200'000);
      for (Asked& asked : send_all(history, rid))
        under_way.push_back(std::move(asked));
      REQUIRE_FALSE(under_way.empty());
      const auto at = under_way.begin() + static_cast<std::ptrdiff_t>(random() % under_way.size());
      const Asked asked = *at;
      under_way.erase(at);
      if (random() % 8 == 0) {
        history.failed(asked.rid);
      } else {
        server.page_max = 1 + random() % limits::page_events_max;
        server.answer(history, asked);
      }
      while (const auto page = history.pop()) {
        for (const std::uint64_t here : page->batch.places)
          REQUIRE(here == ++place);
      }
    }
    CHECK(place == server.latest);
  }
}
