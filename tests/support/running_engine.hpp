#pragma once

#include "codec/event/types.hpp"
#include "engine/engine.hpp"
#include "engine/subscribe/best_effort_set.hpp"
#include "engine/subscribe/subscription.hpp"
#include "tests/support/reply.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace runwire::test {

/// An engine on its threads over any store, with a set of best-effort readers.
struct RunningEngine {
  SystemClock clock{};
  SystemIds ids{};
  BestEffortSet readers{};
  std::unique_ptr<Engine> engine{};

  explicit RunningEngine(std::unique_ptr<Store> store, EngineOptions options = {}) {
    auto opened =
        Engine::open(std::move(options), std::move(store), {.live = &readers}, clock, ids);
    REQUIRE(opened);
    engine = std::move(*opened);
  }

  Reply send(const std::string& subject,
             const std::string& type = "acme.x",
             const std::string& data = "{}") {
    Reply reply;
    const bool durable = !classify(type).ephemeral();
    engine->append(
        {.subject = subject,
         .events =
             {{.id = ids.event_id(clock.wall()), .type = type, .durable = durable, .data = data}}},
        {},
        true,
        reply.respond());
    return reply;
  }
  /// True when it was committed.
  bool put(const std::string& subject,
           const std::string& type = "acme.x",
           const std::string& data = "{}") {
    return !send(subject, type, data).get().error;
  }
  std::unique_ptr<Subscription> subscribe(SubscriptionOptions options) {
    auto opened = Subscription::open(*engine, readers, std::move(options));
    REQUIRE(opened);
    return std::move(*opened);
  }
};

/// What a reader got until it had `last`, an error came, or ten seconds had gone.
struct Heard {
  std::vector<std::uint64_t> places{};  ///< Of durable events.
  std::optional<Error> error{};
};
inline Heard read_to(Subscription& subscription, std::uint64_t last, bool by_position) {
  Heard heard;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (subscription.cursor() < last && std::chrono::steady_clock::now() < until) {
    auto event = subscription.next(std::chrono::milliseconds(100));
    if (!event) {
      heard.error = std::move(event.error());
      break;
    }
    if (!*event || (*event)->position == Position{}) continue;
    heard.places.push_back(by_position ? (*event)->position.value : (*event)->seq.value);
  }
  return heard;
}

}  // namespace runwire::test
