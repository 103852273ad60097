#pragma once

#include "bus/source/bounds.hpp"
#include "bus/source/counters.hpp"
#include "bus/source/framing.hpp"
#include "bus/source/origin.hpp"
#include "bus/source/read_service.hpp"
#include "bus/zmq/socket.hpp"
#include "codec/base/clock.hpp"
#include "codec/wire/messages.hpp"
#include "engine/base/mailbox.hpp"
#include "engine/engine.hpp"

#include <atomic>
#include <cstddef>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace runwire::bus {

/// The thread of the ROUTER: decodes requests, answers hello, read and subjects from the store, and
/// hands everything else to the engine, whose answers come back through a mailbox.
///
/// Threads: moved() from any; the rest from whoever owns the server. Bounds: commands that the
/// engine has not answered, by count and bytes; beyond them nothing more is received.
class Requests {
 public:
  struct Options {
    std::string endpoint{};
    LogIdentity identity{};
    wire::HelloReply hello{};  ///< Its positions are filled in for each answer.
  };
  Requests(Options options, Context& context, const Clock& clock, Counters& counters);
  ~Requests();
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;
  Requests(Requests&&) = delete;
  Requests& operator=(Requests&&) = delete;

  /// Starts the thread, binds, and serves.
  Status serve(Engine& engine);
  /// There may be news for reads that wait.
  void moved() noexcept { done_.wakeup().raise(); }
  /// Receives nothing more. The engine is stopped after this; its last answers are still sent.
  void close();
  void stop();

  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }

 private:
  /// An answer of the engine on its way back.
  struct Done {
    Origin origin{};
    std::size_t bytes = 0;
    Outcome outcome{};
  };

  void run(std::promise<Status>& bound, Engine& engine);
  void loop(Engine& engine);
  std::size_t receive(Engine& engine, Instant now);
  void take(Message& message, Engine& engine, Instant now);
  void dispatch(
      wire::Request&& request, Origin&& origin, std::size_t bytes, Engine& engine, Instant now);
  void hand_over(wire::Request&& request, Origin&& origin, std::size_t bytes, Engine& engine);
  [[nodiscard]] wire::HelloReply hello(const Engine& engine) const;
  std::size_t answer_done();
  void answer(const Origin& origin, Outcome&& outcome, Bytes&& events = {}, HeldBytes held = {});
  void send(Message&& message);
  void wait();
  [[nodiscard]] bool receiving() const;

  Options options_;
  Context& context_;
  const Clock& clock_;
  Counters& counters_;
  RequestCounters& numbers_;
  Mailbox<Done> done_{bounds::commands_outstanding_max * 2};
  std::atomic<bool> closed_{false};
  std::atomic<bool> stop_{false};
  std::string endpoint_{};

  // The thread's own.
  std::optional<Socket> socket_{};
  std::optional<ReadService> reads_{};
  Peers peers_{};
  std::size_t outstanding_ = 0;
  std::size_t outstanding_bytes_ = 0;
  std::vector<Done> taken_{};
  std::thread thread_{};
};

}  // namespace runwire::bus
