#pragma once

#include "codec/base/clock.hpp"
#include "codec/base/ids.hpp"
#include "codec/base/result.hpp"
#include "codec/wire/messages.hpp"
#include "engine/ports.hpp"
#include "engine/store/store.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace runwire {

/// What becomes of an event that an observer refuses. Held: offered again, slower each time, for as
/// long as it takes. Skipped: after so many refusals in a row it counts as handled, which is on
/// record in the log and said by an `observer.skipped` event.
struct ObserverPolicy {
  std::uint64_t skip_after = 0;  ///< 0: held. At most limits::skip_after_max.
};

/// The composition of an engine. Every field has a default except the names of the observers.
struct EngineOptions {
  std::vector<std::string> required{};  ///< In construction order: each waits for the one before.
  std::map<std::string, ObserverPolicy> policies{};  ///< Of those that differ from the default.
  bool new_observers_from_start = false;  ///< A name seen first starts at the oldest kept event.
  std::chrono::milliseconds ack_deadline = limits::ack_deadline;
  std::size_t in_flight_events_max = limits::in_flight_events_max;
  std::size_t in_flight_bytes_max = limits::in_flight_bytes_max;
  std::size_t window_events_max = limits::window_events_max;
  std::size_t window_bytes_max = limits::window_bytes_max;
  std::chrono::milliseconds lease = limits::lease;
};
[[nodiscard]] Status validate(const EngineOptions& options);

/// Where the log stands. Within a term all of them only grow.
struct Positions {
  Position appended{};
  Position committed{};
  Position acknowledged{};
  Position published{};
  friend bool operator==(const Positions&, const Positions&) = default;
};

/// The log, its lifecycles and its observers, on two threads of its own: one drives the core, one
/// writes and syncs. Everything here may be called from any thread.
///
/// Lifetime: `clock`, `ids` and the sinks must outlive it. Bounds: limits::queue_commands_max
/// commands wait for the core; beyond that submit() answers `backpressure` and takes nothing.
/// Errors: a failed sync ends writing (`store_failed`) until the process opens the store again.
class Engine {
 public:
  struct Ports {
    ObserverSink* observers = nullptr;  ///< May be null where no observer is required.
    LiveSink* live = nullptr;           ///< May be null: nobody listens.
    /// Called on the core thread whenever committed or acknowledged has moved.
    std::move_only_function<void(const Positions&)> moved{};
  };

  /// Recovers (ends what a dead engine left open), then serves.
  static Result<std::unique_ptr<Engine>> open(EngineOptions options,
                                              std::unique_ptr<Store> store,
                                              Ports ports,
                                              const Clock& clock,
                                              IdSource& ids);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  Engine(Engine&&) = delete;
  Engine& operator=(Engine&&) = delete;

  /// Validates, canonicalises and encodes on the caller's thread, then hands over to the core.
  /// `respond` is called exactly once, on the core thread or (a refusal) before this returns; the
  /// answer is an AppendReply. `local`: the run belongs to this process, and recovery ends it.
  void append(wire::Append&& request, InstanceId client, bool local, Respond respond);

  /// Attach, Detach, Suspend, Resume, Claim, Renew, Observers and GetStatus; Hello, Read, Subjects
  /// and Append are not commands of the core. `respond` as above.
  void submit(wire::Operation&& operation, InstanceId client, Respond respond);

  /// An ack or a refusal from a consumer. One-way; a stale one is answered through the sink.
  void acknowledge(wire::Ack&& ack);

  [[nodiscard]] const Store& store() const;
  /// Why nothing is written any more, or nothing: it is. Reads go on either way.
  [[nodiscard]] std::optional<Error> failed() const;
  /// The epoch under which somebody holds the run; nothing where nobody does.
  [[nodiscard]] std::optional<Epoch> claimed(const std::string& subject) const;
  [[nodiscard]] Positions positions() const;  ///< A consistent enough reading: each only grows.

  /// Takes nothing new, writes what was taken, answers everybody, ends its threads. Idempotent.
  void stop();

 private:
  class Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace runwire
