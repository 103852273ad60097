#include "bench/rig.hpp"

#include "bus/client/appender.hpp"
#include "bus/client/events.hpp"
#include "bus/client/observer.hpp"
#include "bus/source/server.hpp"
#include "engine/engine.hpp"
#include "engine/store/open.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <fmt/core.h>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace runwire::bench {
namespace {

using std::chrono::milliseconds;
using Stopwatch = std::chrono::steady_clock;

double per_second(std::size_t events, Stopwatch::time_point since) {
  return static_cast<double>(events) /
         std::chrono::duration<double>(Stopwatch::now() - since).count();
}

template <class T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "bench: {}\n", describe(result.error()));
  std::exit(1);
}
void must(const Status& status) {
  if (status) return;
  fmt::print(stderr, "bench: {}\n", describe(status.error()));
  std::exit(1);
}

/// 256 bytes of canonical JSON that differ from event to event.
std::string data_of(std::size_t number) {
  std::string data = fmt::format(R"({{"n":{},"text":")", number);
  data.resize(254, 'x');
  return data + "\"}";
}

Draft draft_of(std::size_t number, SystemIds& ids, const SystemClock& clock) {
  return {.id = ids.event_id(clock.wall()), .type = "acme.bench", .data = data_of(number)};
}

/// A server on tcp loopback with a segments store.
struct Rig {
  SystemClock clock{};
  SystemIds ids{};
  std::unique_ptr<bus::Server> server{};

  Rig(const std::string& directory, bool observer) {
    auto store = must(open_segments({.directory = directory}, ids, clock));
    bus::ServerOptions options{.listen = "tcp://127.0.0.1:*"};
    if (observer) options.engine.required = {"bench"};
    server = must(bus::Server::open(options, std::move(store), clock, ids));
  }
  [[nodiscard]] client::ConnectOptions connect() const { return {.endpoint = server->endpoint()}; }
};

/// Acks whatever it is owed until it is told to stop.
std::jthread acking_observer(const Rig& rig) {
  return std::jthread([&rig](const std::stop_token& stop) {
    auto observer = must(client::Observer::open({.connect = rig.connect(), .name = "bench"}));
    while (!stop.stop_requested()) {
      auto owed = must(observer->next(milliseconds(50)));
      if (owed) must(observer->ack(owed->last));
    }
  });
}

void append_pipelined(const Rig& rig, const WireLoad& load) {
  SystemIds ids;
  const SystemClock clock;
  auto appender = must(client::Appender::open(
      {.connect = rig.connect(),
       .level = load.observer ? wire::Level::acknowledged : wire::Level::committed,
       .in_flight_max = load.in_flight}));
  for (std::size_t at = 0; at < load.events; at += load.request_events) {
    wire::Append request{.subject = "run-" + std::to_string(at / load.request_events % 100)};
    if (load.observer) request.level = wire::Level::acknowledged;
    request.events.reserve(load.request_events);
    for (std::size_t event = 0; event < load.request_events; ++event) {
      request.events.push_back(draft_of(at + event, ids, clock));
    }
    must(appender->submit(std::move(request), [](Result<client::Appended> done) {
      const client::Appended appended = must(std::move(done));
      if (appended.error) must(Status(fail(*appended.error)));
    }));
  }
  must(appender->flush());
}

}  // namespace

double append_in_process(const std::string& directory, std::size_t threads, std::size_t events) {
  const SystemClock clock;
  SystemIds ids;
  auto engine = must(
      Engine::open({}, must(open_segments({.directory = directory}, ids, clock)), {}, clock, ids));
  constexpr std::size_t request_events = 16;
  constexpr std::size_t unanswered_max = 64;  // requests of one caller
  const std::size_t requests = events / threads / request_events;
  const auto since = Stopwatch::now();
  {
    std::vector<std::jthread> callers;
    for (std::size_t caller = 0; caller < threads; ++caller) {
      callers.emplace_back([&, caller] {
        SystemIds own;
        std::mutex mutex;
        std::condition_variable answered;
        std::size_t open = 0;
        for (std::size_t at = 0; at < requests; ++at) {
          wire::Append request{.subject = "run-" + std::to_string(caller)};
          for (std::size_t event = 0; event < request_events; ++event) {
            request.events.push_back(draft_of(at, own, clock));
          }
          {
            std::unique_lock lock(mutex);
            answered.wait(lock, [&] { return open < unanswered_max; });
            ++open;
          }
          engine->append(std::move(request), {}, true, [&](Outcome outcome) {
            if (outcome.error) must(Status(fail(*outcome.error)));
            const std::scoped_lock lock(mutex);
            --open;
            answered.notify_one();
          });
        }
        std::unique_lock lock(mutex);
        answered.wait(lock, [&] { return open == 0; });
      });
    }
  }
  return per_second(requests * request_events * threads, since);
}

double append_over_wire(const std::string& directory, const WireLoad& load) {
  Rig rig(directory, load.observer);
  std::jthread observer;
  if (load.observer) observer = acking_observer(rig);
  const auto since = Stopwatch::now();
  append_pipelined(rig, load);
  const double rate = per_second(load.events, since);
  observer = {};
  return rate;
}

double replay_over_wire(const std::string& directory, std::size_t events) {
  Rig rig(directory, false);
  append_pipelined(rig, {.events = events});
  auto reader = must(client::Events::open({.connect = rig.connect(), .follow = false}));
  const auto since = Stopwatch::now();
  std::size_t heard = 0;
  for (;;) {
    auto item = must(reader->next(milliseconds(5000)));
    if (!item || std::holds_alternative<client::Ended>(*item)) break;
    if (std::holds_alternative<client::Heard>(*item)) ++heard;
  }
  return per_second(heard, since);
}

double live_to_one(const std::string& directory, std::size_t events) {
  Rig rig(directory, false);
  auto reader = must(client::Events::open({.connect = rig.connect(), .from_end = true}));
  for (;;) {  // live before the first append
    auto item = must(reader->next(milliseconds(5000)));
    if (item && std::holds_alternative<client::CaughtUp>(*item)) break;
  }
  const auto since = Stopwatch::now();
  const std::jthread writer([&] { append_pipelined(rig, {.events = events}); });
  const std::size_t total = (events + 255) / 256 * 256;
  for (std::size_t heard = 0; heard < total;) {
    auto item = must(reader->next(milliseconds(5000)));
    if (item && std::holds_alternative<client::Heard>(*item)) ++heard;
  }
  return per_second(total, since);
}

}  // namespace runwire::bench
