#include "engine/engine.hpp"

#include "engine/subscribe/subscription.hpp"
#include "tests/support/reply.hpp"
#include "tests/support/scripted_store.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace runwire;
using namespace std::chrono_literals;

namespace {

/// A running engine on a scripted store, with a set of best-effort readers.
struct Running {
  test::ScriptedStore::Disk disk{};
  SystemClock clock{};
  SystemIds ids{};
  BestEffortSet readers{};
  test::ScriptedStore* store = nullptr;  ///< The engine's.
  std::unique_ptr<Engine> engine{};

  explicit Running(EngineOptions options = {}) {
    auto owned = std::make_unique<test::ScriptedStore>(disk);
    store = owned.get();
    auto opened =
        Engine::open(std::move(options), std::move(owned), {.live = &readers}, clock, ids);
    REQUIRE(opened);
    engine = std::move(*opened);
  }

  test::Reply append(const std::string& subject, const std::string& data = "{}") {
    test::Reply reply;
    engine->append({.subject = subject,
                    .events = {{.id = ids.event_id(clock.wall()), .type = "acme.x", .data = data}}},
                   {},
                   true,
                   reply.respond());
    return reply;
  }
};

/// Reads with `subscription` until it has `count` durable events or ten seconds have gone.
std::vector<std::uint64_t> read_places(Subscription& subscription,
                                       std::size_t count,
                                       bool by_position) {
  std::vector<std::uint64_t> places;
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (places.size() < count && std::chrono::steady_clock::now() < until) {
    auto event = subscription.next(100ms);
    if (!event) break;
    if (*event) places.push_back(by_position ? (*event)->position.value : (*event)->seq.value);
  }
  return places;
}

}  // namespace

TEST_CASE("C34 Engine: callers on many threads get distinct consecutive numbers",
          "[engine][threads]") {
  Running running;
  constexpr int threads = 8;
  constexpr int each = 250;
  std::vector<std::vector<Outcome>> outcomes(threads);
  {
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < threads; ++caller) {
      callers.emplace_back([&, caller] {
        std::vector<test::Reply> replies;
        for (int at = 0; at < each; ++at)
          replies.push_back(running.append("one"));
        for (const test::Reply& reply : replies)
          outcomes[static_cast<std::size_t>(caller)].push_back(reply.get());
      });
    }
  }
  std::set<std::uint64_t> seqs;
  for (const auto& mine : outcomes) {
    std::uint64_t before = 0;
    for (const Outcome& outcome : mine) {
      REQUIRE_FALSE(outcome.error);
      const std::uint64_t seq = std::get<wire::AppendReply>(outcome.answer).seqs.at(0).value;
      CHECK(seq > before);
      before = seq;
      seqs.insert(seq);
    }
  }
  CHECK(seqs.size() == threads * each);
  CHECK(*seqs.rbegin() == threads * each);
}

TEST_CASE("Engine: stop answers everybody and loses nothing that was answered",
          "[engine][threads]") {
  Running running;
  std::atomic<bool> stopping{false};
  std::atomic<std::uint64_t> committed{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> odd{0};
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller] {
      while (!stopping) {
        const Outcome outcome = running.append("run-" + std::to_string(caller)).get();
        if (outcome.error) {
          if (outcome.error->code != ErrorCode::closed) ++odd;
          ++refused;
        } else {
          ++committed;
        }
      }
    });
  }
  while (committed < 200)
    std::this_thread::yield();
  running.engine->stop();
  while (refused < 4)
    std::this_thread::yield();
  stopping = true;
  callers.clear();
  CHECK(odd == 0);
  CHECK(running.disk.events.size() == committed);
}

TEST_CASE("C38 Subscription: history and live join without a hole while writers write",
          "[engine][threads][subscribe]") {
  Running running;
  constexpr std::uint64_t total = 4000;
  std::atomic<std::uint64_t> written{0};
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      for (std::uint64_t at = 0; at < total / 4; ++at) {
        if (!running.append("run-" + std::to_string(writer)).get().error) ++written;
      }
    });
  }
  std::vector<std::jthread> readers;
  std::vector<std::vector<std::uint64_t>> heard(8);
  for (std::size_t reader = 0; reader < heard.size(); ++reader) {
    readers.emplace_back([&, reader] {
      // Each joins once a different share has been written: nobody waits, everybody races.
      while (written < reader * total / heard.size())
        std::this_thread::yield();
      const bool whole_log = reader % 2 == 0;
      SubscriptionOptions options{.events_max = 100'000, .bytes_max = std::size_t{1} << 30};
      if (!whole_log) options.subject = "run-1";
      auto subscription = Subscription::open(*running.engine, running.readers, options);
      if (!subscription) return;  // heard nothing, and the count below says so
      heard[reader] = read_places(**subscription, whole_log ? total : total / 4, whole_log);
    });
  }
  readers.clear();
  for (std::size_t reader = 0; reader < heard.size(); ++reader) {
    INFO("reader " << reader);
    REQUIRE(heard[reader].size() == (reader % 2 == 0 ? total : total / 4));
    for (std::size_t at = 0; at < heard[reader].size(); ++at)
      REQUIRE(heard[reader][at] == at + 1);
  }
}

TEST_CASE("C37 Subscription: a slow one is ended with the facts, others are not held up",
          "[engine][subscribe][bound]") {
  Running running;
  auto slow =
      Subscription::open(*running.engine, running.readers, {.subject = "s", .events_max = 10});
  auto quick = Subscription::open(*running.engine, running.readers, {.subject = "s"});
  REQUIRE(slow);
  REQUIRE(quick);
  REQUIRE_FALSE((*slow)->next(0ms)->has_value());  // history is read: it is live from here
  for (int at = 0; at < 10; ++at)
    REQUIRE_FALSE(running.append("s").get().error);
  CHECK(read_places(**quick, 10, false).size() == 10);
  SECTION("exactly its bound is still fine") {
    CHECK(read_places(**slow, 10, false).size() == 10);
  }
  SECTION("one more ends it, after what it had") {
    REQUIRE_FALSE(running.append("s").get().error);
    CHECK(read_places(**quick, 1, false).size() == 1);
    CHECK(read_places(**slow, 10, false).size() == 10);
    auto end = (*slow)->next(0ms);
    REQUIRE_FALSE(end);
    CHECK(end.error().code == ErrorCode::slow_consumer);
    CHECK(end.error().number("last_delivered") == 10);
    CHECK(end.error().number("configured") == 10);
    CHECK(end.error().text("bound") == "events_max");
    auto again =
        Subscription::open(*running.engine, running.readers, {.subject = "s", .after = 10});
    REQUIRE(again);
    CHECK(read_places(**again, 1, false) == std::vector<std::uint64_t>{11});
  }
}

TEST_CASE("C46 Engine: a store that fails is told once and for good, and reading goes on",
          "[engine]") {
  Running running;
  REQUIRE_FALSE(running.append("s").get().error);
  CHECK_FALSE(running.engine->failed());
  running.store->fail_next_append(ErrorCode::store_failed);
  REQUIRE(running.append("s").get().error);
  REQUIRE(running.engine->failed());
  CHECK(running.engine->failed()->code == ErrorCode::store_failed);
  auto later = running.append("s").get();
  REQUIRE(later.error);
  CHECK(later.error->code == ErrorCode::store_failed);
  CHECK(running.engine->positions().committed == Position{1});
  auto reader = Subscription::open(*running.engine, running.readers, {.subject = "s"});
  REQUIRE(reader);
  CHECK(read_places(**reader, 1, false) == std::vector<std::uint64_t>{1});
}

TEST_CASE("Engine: a full disk is not a failure", "[engine]") {
  Running running;
  running.store->fail_next_append(ErrorCode::store_full);
  REQUIRE(running.append("s").get().error);
  CHECK_FALSE(running.engine->failed());
  CHECK_FALSE(running.append("s").get().error);
}

TEST_CASE("Engine: who holds a run can be asked from any thread, until the lease lapses",
          "[engine][threads]") {
  Running running({.lease = 50ms});
  const auto claim = [&](const std::string& subject, std::uint64_t epoch) {
    test::Reply reply;
    running.engine->submit(wire::Claim{.subject = subject, .epoch = Epoch{epoch}},
                           running.ids.instance_id(),
                           reply.respond());
    return !reply.get().error;
  };
  REQUIRE_FALSE(running.append("held").get().error);
  CHECK_FALSE(running.engine->claimed("held"));
  REQUIRE(claim("held", 3));
  CHECK((!running.engine->claimed("held") || running.engine->claimed("held") == Epoch{3}));
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (running.engine->claimed("held") && std::chrono::steady_clock::now() < until)
    std::this_thread::yield();
  CHECK_FALSE(running.engine->claimed("held"));
}

TEST_CASE("validate: engine options are judged in one place", "[engine]") {
  CHECK(validate({.required = {"audit", "billing"}}));
  CHECK_FALSE(validate({.required = {"audit", "audit"}}));
  CHECK_FALSE(validate({.required = {"no spaces"}}));
  CHECK_FALSE(validate({.required = {}, .ack_deadline = 0ms}));
  std::vector<std::string> many;
  for (std::size_t at = 0; at < limits::observers_max; ++at)
    many.push_back("o" + std::to_string(at));
  CHECK(validate({.required = many}));
  many.push_back("one-more");
  CHECK_FALSE(validate({.required = many}));
}
