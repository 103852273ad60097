#pragma once

#include "codec/base/clock.hpp"
#include "codec/base/ids.hpp"
#include "codec/base/result.hpp"
#include "engine/engine.hpp"
#include "engine/lifecycle/claims.hpp"
#include "engine/log/admission.hpp"
#include "engine/log/receipts.hpp"
#include "engine/log/staged.hpp"
#include "engine/log/subject_table.hpp"
#include "engine/log/window.hpp"
#include "engine/observe/live_builder.hpp"
#include "engine/observe/observer_chain.hpp"
#include "engine/ports.hpp"
#include "engine/store/store.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace runwire {

/// The engine without its threads: one log, many cursors, driven a step at a time.
///
/// It has no thread, lock, clock or file of its own, so a seeded simulation can drive it:
/// take() what came in, next_batch() to the store, completed() when it is synced, turn().
///
/// Owner: one thread. Lifetime: store, clock, ids and sinks must outlive it. Bounds: EngineOptions
/// and limits. Errors: those of one command are its answer; those of the store end writing.
class Core {
 public:
  struct World {
    Store& store;
    const Clock& clock;
    IdSource& ids;
    ObserverSink* observers = nullptr;
    LiveSink* live = nullptr;
    /// Told whenever committed or acknowledged has moved, before anybody is answered or shown it.
    std::function<void(const Positions&)> moved{};
    /// Told once, before anybody is answered: nothing is written any more.
    std::function<void(const Error&)> failed{};
    ClaimBoard* claims = nullptr;  ///< May be null: nobody lists them.
  };

  /// Takes up where the last process stopped: acks, claims, open runs, the id window. Runs that the
  /// dead process itself owned are ended, children first, and that is on stable storage when this
  /// returns: a crash on the way leaves runs that are ended and runs that the next open will end.
  static Result<std::unique_ptr<Core>> open(const EngineOptions& options, const World& world);

  void take(std::unique_ptr<Staged> staged);
  void take(wire::Operation&& operation, const InstanceId& client, Respond respond);
  void take(const wire::Ack& ack);

  /// What is to be written next, with one sync; empty while a batch is being written or there is
  /// nothing. The records stay valid until completed().
  [[nodiscard]] std::span<const Record> next_batch();
  /// The batch that next_batch() gave was written and synced, or not.
  void completed(const Status& written);

  /// One turn: every cursor moves as far as its predecessor allows. Returns work done.
  std::size_t turn();
  /// When a turn has something to do although nothing came in.
  [[nodiscard]] std::optional<Instant> next_due() const;

  [[nodiscard]] Positions positions() const;
  [[nodiscard]] bool writing() const { return in_flight_ != nullptr; }
  [[nodiscard]] bool has_work() const { return writing() || admission_.has_work(); }
  /// Answers everybody who still waits: the engine stops.
  void close();

 private:
  Core(const EngineOptions& options, const World& world);
  Status recover();
  Status recover_ids();
  Status recover_window();
  Status recover_run(const SubjectInfo& info, const std::map<std::string, ClaimInfo>& claims);
  /// Writes what recovery decided, before anybody is served.
  Status write_all();
  void fail_batch(const Error& error);
  Status take_back_from_store();
  void answer(const wire::Attach& request, Respond respond);
  void answer(const wire::Detach& request, Respond respond);
  void answer(const wire::Claim& request, const InstanceId& client, Respond respond);
  void answer(const wire::Renew& request, const InstanceId& client, Respond respond);
  void suspend(const std::string& name, bool suspended, Respond respond);
  void skip(const std::string& name, Position position, const std::string& reason);
  [[nodiscard]] wire::ObserversReply observer_rows() const;
  [[nodiscard]] std::vector<Fact> status() const;
  [[nodiscard]] Backlog backlog() const;
  void end_lapsed(Instant now);
  void publish_up_to(Position limit);

  const EngineOptions options_;
  World world_;
  SubjectTable subjects_;
  Window window_{};
  ObserverChain observers_;
  LiveBuilder live_;
  Admission admission_;
  Claims claims_;
  Receipts receipts_{};
  Position committed_;
  Position acknowledged_;
  Batch* in_flight_ = nullptr;             ///< In the window, or `control_only_`.
  std::unique_ptr<Batch> control_only_{};  ///< A batch without events.
  std::optional<Error> store_failed_{};    ///< Sticky until the process opens the store again.
  std::uint64_t batches_ = 0;
  std::uint64_t appends_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace runwire
