#pragma once

#include "bus/source/counters.hpp"
#include "bus/source/endpoints.hpp"
#include "bus/source/framing.hpp"
#include "bus/source/live_inbox.hpp"
#include "bus/source/observer_port.hpp"
#include "bus/zmq/socket.hpp"
#include "codec/base/clock.hpp"
#include "codec/base/result.hpp"
#include "engine/base/mailbox.hpp"
#include "engine/engine.hpp"
#include "engine/ports.hpp"
#include "engine/store/store.hpp"

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace runwire::bus {

class Publisher;

/// The thread of the live and the observer sockets, and the engine's sinks.
///
/// Threads: the sinks are called by the core, everything else by whoever owns the server. Order of
/// life: bind(), then serve() once the engine is there, then stop() after the engine has stopped:
/// what it had published by then is still sent.
class LiveThread final : public LiveSink, public ObserverSink {
 public:
  struct Options {
    Endpoints endpoints;
    LogIdentity identity{};
    std::uint64_t ack_deadline_ms = 0;
    std::uint64_t in_flight_events_max = 0;
  };
  LiveThread(Options options,
             Context& context,
             const Store& store,
             const Clock& clock,
             Counters& counters);
  ~LiveThread() override;
  LiveThread(const LiveThread&) = delete;
  LiveThread& operator=(const LiveThread&) = delete;
  LiveThread(LiveThread&&) = delete;
  LiveThread& operator=(LiveThread&&) = delete;

  /// Starts the thread and binds its sockets; it does nothing more until serve().
  Status bind();
  void serve(Engine& engine);
  void stop();

  [[nodiscard]] const std::string& live_endpoint() const { return live_endpoint_; }
  [[nodiscard]] const std::string& acks_endpoint() const { return acks_endpoint_; }

  [[nodiscard]] bool offer(LiveBatch&& batch) override;
  void attached(const Attachment& attachment, Respond respond) override;
  void deliver(ObserverDelivery&& delivery) override;
  void detached(const std::string& observer, Epoch epoch) override;
  void fenced(const std::string& observer, Epoch stale, Epoch current) override;

 private:
  void run(std::promise<Status>& bound);
  void loop(Publisher& publisher, ObserverPort& observers, Engine& engine);
  std::size_t take_commands(ObserverPort& observers, Instant now);
  std::size_t publish(Publisher& publisher, Instant now);
  void wait(const Publisher& publisher, const ObserverPort& observers, Instant now);
  void push(ObserverCommand&& command);

  Options options_;
  Context& context_;
  const Store& store_;
  const Clock& clock_;
  Counters& counters_;
  LiveInbox inbox_{};
  Mailbox<ObserverCommand> commands_{bounds::observer_commands_max};
  std::string live_endpoint_{};
  std::string acks_endpoint_{};
  std::promise<Engine*> engine_{};
  bool told_ = false;
  std::atomic<bool> stop_{false};

  // The thread's own.
  std::vector<LiveBatch> batches_{};
  std::size_t batches_done_ = 0;
  std::vector<ObserverCommand> taken_{};
  std::vector<PollItem> items_{};
  std::thread thread_{};
};

}  // namespace runwire::bus
