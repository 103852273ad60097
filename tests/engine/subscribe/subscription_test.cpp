#include "engine/subscribe/subscription.hpp"

#include "engine/store/open.hpp"
#include "tests/support/running_engine.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace runwire;
using namespace std::chrono_literals;
using test::Heard;
using test::read_to;

namespace {

struct Stage : test::RunningEngine {
  explicit Stage(const MemoryOptions& options = {}) : RunningEngine(make(options)) {}

  static std::unique_ptr<Store> make(const MemoryOptions& options) {
    SystemIds ids;
    return make_memory_store(options, ids);
  }
  void put_many(const std::string& subject, int count, const std::string& data = "{}") {
    std::vector<test::Reply> replies;
    for (int at = 0; at < count; ++at) {
      replies.push_back(send(subject, "acme.x", data));
      // Below the engine's queue, so that nothing is refused.
      if (replies.size() < 1000 && at + 1 < count) continue;
      for (const test::Reply& reply : replies)
        REQUIRE_FALSE(reply.get().error);
      replies.clear();
    }
  }
};

bool consecutive(const std::vector<std::uint64_t>& places, std::uint64_t from) {
  for (std::size_t at = 0; at < places.size(); ++at) {
    if (places[at] != from + at) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("C37 Subscription: a reader that stops is ended with every fact, a resume completes",
          "[engine][subscribe][bound]") {
  Stage stage;
  const bool by_bytes = GENERATE(false, true);
  INFO((by_bytes ? "by bytes" : "by count"));
  const SubscriptionOptions bounded{.subject = "s",
                                    .events_max = by_bytes ? 100'000U : 100U,
                                    .bytes_max = by_bytes ? 64U << 10 : 64U << 20};
  const auto slow = stage.subscribe(bounded);
  const auto quick = stage.subscribe({.subject = "s", .events_max = 100'000});
  REQUIRE_FALSE(*slow->next(0ms));  // live from here: it has only its queue
  REQUIRE_FALSE(*quick->next(0ms));
  stage.put_many("other", 3);  // positions and sequences differ from here
  constexpr int count = 6000;
  stage.put_many("s", count, "{\"text\":\"" + std::string(200, 'x') + "\"}");

  const Heard heard = read_to(*slow, count, false);
  CHECK(consecutive(heard.places, 1));
  REQUIRE(heard.error);
  CHECK(heard.error->code == ErrorCode::slow_consumer);
  CHECK(heard.error->number("requested") == 0);
  CHECK(heard.error->number("last_delivered") == heard.places.size());
  CHECK(heard.error->number("recovery") == heard.places.size());
  CHECK(heard.error->number("earliest") == 1);
  CHECK(heard.error->number("latest") == count);
  CHECK(heard.error->text("bound") == (by_bytes ? "bytes_max" : "events_max"));
  CHECK(heard.error->number("configured") == (by_bytes ? 64U << 10 : 100U));
  CHECK(heard.error->number("observed").value() > heard.error->number("configured").value());
  CHECK(slow->next(0ms).error() == *heard.error);  // and nothing follows

  SubscriptionOptions again = bounded;
  again.after = heard.error->number("recovery").value();
  const auto resumed = stage.subscribe(again);
  const Heard rest = read_to(*resumed, count, false);
  CHECK(consecutive(rest.places, again.after + 1));
  CHECK(heard.places.size() + rest.places.size() == count);
  CHECK(read_to(*quick, count, false).places.size() == count);
}

TEST_CASE("C37 Subscription: an event larger than the byte bound still gets through",
          "[engine][subscribe][bound]") {
  Stage stage;
  const auto reader = stage.subscribe({.subject = "s", .bytes_max = 10});
  REQUIRE_FALSE(*reader->next(0ms));
  REQUIRE(stage.put("s"));
  CHECK(read_to(*reader, 1, false).places.size() == 1);
}

TEST_CASE("C37 Subscription: a reader of history keeps its own pace", "[engine][subscribe]") {
  Stage stage;
  stage.put_many("s", 2000);
  const auto reader = stage.subscribe({.events_max = 10});
  stage.put_many("s", 3000);  // far beyond its bound, while it has not read its history
  const Heard heard = read_to(*reader, 5000, true);
  CHECK_FALSE(heard.error);
  CHECK(heard.places.size() == 5000);
  CHECK(consecutive(heard.places, 1));
}

TEST_CASE("Subscription: a cursor that cannot be honoured is an error with the facts",
          "[engine][subscribe]") {
  Stage stage({.run_events_max = 4});
  stage.put_many("s", 10);
  const auto open = [&](SubscriptionOptions options) {
    return Subscription::open(*stage.engine, stage.readers, std::move(options));
  };
  CHECK(open({.subject = "s", .after = 10}));
  const auto ahead = open({.subject = "s", .after = 11});
  REQUIRE_FALSE(ahead);
  CHECK(ahead.error().code == ErrorCode::cursor_ahead);
  CHECK(ahead.error().number("latest") == 10);
  CHECK(open({.after = 11}).error().code == ErrorCode::cursor_ahead);
  CHECK(open({.subject = "nobody", .after = 1}).error().code == ErrorCode::cursor_ahead);
  CHECK(open({.subject = "nobody"}));
  const auto expired = open({.subject = "s", .after = 5});
  REQUIRE_FALSE(expired);
  CHECK(expired.error().code == ErrorCode::cursor_expired);
  CHECK(expired.error().number("earliest") == 7);
  CHECK(expired.error().number("recovery") == 6);
  CHECK(open({.after = 10, .log = LogId{}}).error().code == ErrorCode::cursor_foreign);
  CHECK(open({.after = 10, .log = stage.engine->store().log_id()}));
}

TEST_CASE("Subscription: the subscriptions of a process are bounded",
          "[engine][subscribe][bound]") {
  Stage stage;
  std::vector<std::unique_ptr<Subscription>> readers;
  for (std::size_t at = 0; at < limits::subscriptions_max; ++at)
    readers.push_back(stage.subscribe({}));
  const auto refused = Subscription::open(*stage.engine, stage.readers, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::backpressure);
  readers.pop_back();
  CHECK(Subscription::open(*stage.engine, stage.readers, {}));
}

namespace {

constexpr std::uint64_t written_each = 600;
constexpr int writers_count = 8;  // half of them share one run

/// Follows one run or the whole log through joins at random cursors; a typed end says where to go
/// on, and nothing else may end it. True when it came to the end without a hole that nobody named.
bool follow(Stage& stage, bool whole, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::uint64_t end = (whole ? writers_count : writers_count / 2) * written_each;
  std::uint64_t after = 0;
  for (int lives = 0; after < end && lives < 10'000; ++lives) {
    SubscriptionOptions options{.after = after, .events_max = 64};
    if (!whole) options.subject = "shared";
    auto opened = Subscription::open(*stage.engine, stage.readers, options);
    Heard heard;
    if (opened) {
      heard = read_to(**opened, std::min(end, after + 1 + random() % 400), whole);
    } else {
      heard.error = std::move(opened.error());
    }
    if (!consecutive(heard.places, after + 1)) return false;
    after += heard.places.size();
    if (!heard.error) continue;
    const bool typed = heard.error->code == ErrorCode::cursor_expired ||
                       heard.error->code == ErrorCode::slow_consumer;
    const auto recovery = heard.error->number("recovery");
    if (!typed || !recovery || *recovery < after) return false;
    after = *recovery;
  }
  return after == end;
}

}  // namespace

TEST_CASE("C38 Subscription: joins at random cursors race writers and eviction",
          "[engine][subscribe][threads]") {
  Stage stage({.run_events_max = 200, .log_events_max = 1500});
  std::atomic<std::uint64_t> written{0};
  std::atomic<int> whole_stories{0};
  const auto seed = std::random_device{}();
  constexpr unsigned readers = 24;
  std::vector<std::jthread> threads;
  for (int writer = 0; writer < writers_count; ++writer) {
    threads.emplace_back([&, writer] {
      const std::string run = writer % 2 == 0 ? "shared" : "run-" + std::to_string(writer);
      for (std::uint64_t at = 0; at < written_each; ++at) {
        if (stage.put(run)) ++written;
      }
    });
  }
  for (unsigned reader = 0; reader < readers; ++reader) {
    threads.emplace_back([&, reader] {
      if (follow(stage, reader % 3 == 0, seed + reader)) ++whole_stories;
    });
  }
  threads.clear();
  INFO("seed " << seed);
  CHECK(written == writers_count * written_each);
  CHECK(whole_stories == readers);
}

TEST_CASE("C43 Memory: the end of a full run is taken and kept, what went is said to have gone",
          "[engine][subscribe][memory]") {
  const bool by_bytes = GENERATE(false, true);
  INFO((by_bytes ? "by bytes" : "by count"));
  constexpr std::size_t large = 60'000;
  Stage stage({.run_events_max = by_bytes ? 100'000U : 50U,
               .run_bytes_max = by_bytes ? 1U << 20 : 64U << 20});
  REQUIRE(stage.put("run", "run.started"));
  stage.put_many("run", 100, "{\"text\":\"" + std::string(large, 'x') + "\"}");
  const std::uint64_t earliest = (*stage.engine->store().find_subject("run"))->first.value;
  CHECK(earliest > 1);
  REQUIRE(stage.put("run",
                    "run.failed",
                    R"({"problem":{"code":"x","message":")" + std::string(large, 'y') +
                        R"(","retryable":false}})"));

  const auto info = stage.engine->store().find_subject("run");
  REQUIRE(info);
  CHECK((*info)->state == RunState::failed);
  CHECK((*info)->last.value == 102);
  CHECK((*info)->first.value == earliest);  // it had room of its own: nothing went for it

  const auto late = Subscription::open(*stage.engine, stage.readers, {.subject = "run"});
  REQUIRE_FALSE(late);
  CHECK(late.error().code == ErrorCode::cursor_expired);
  CHECK(late.error().number("earliest") == earliest);
  CHECK(late.error().number("latest") == 102);
  const auto reader =
      stage.subscribe({.subject = "run", .after = late.error().number("recovery").value()});
  const Heard heard = read_to(*reader, 102, false);
  CHECK(consecutive(heard.places, earliest));
  CHECK(heard.places.back() == 102);
  const auto evicted = stage.engine->store().read_subject("run", {1}, {1000}, {});
  REQUIRE_FALSE(evicted);
  CHECK(evicted.error().code == ErrorCode::cursor_expired);
}
