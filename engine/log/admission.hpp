#pragma once

#include "codec/base/clock.hpp"
#include "codec/base/ids.hpp"
#include "codec/base/result.hpp"
#include "engine/lifecycle/closing.hpp"
#include "engine/log/batch.hpp"
#include "engine/log/id_window.hpp"
#include "engine/log/refusals.hpp"
#include "engine/log/subject_table.hpp"
#include "engine/log/window.hpp"
#include "engine/observe/live_builder.hpp"

#include <cstddef>
#include <memory>
#include <optional>

namespace runwire {

struct AdmissionBounds {
  std::size_t window_events_max = limits::window_events_max;
  std::size_t window_bytes_max = limits::window_bytes_max;
  std::size_t ids_max = limits::idempotency_ids_max;
};

/// What admitting one append came to. Events up to `reply.taken` have their numbers.
struct Admitted {
  wire::AppendReply reply{};
  std::optional<Error> error{};
  Position first{};  ///< Of the durable events taken; 0 where none was.
  Position last{};
  Sequence last_seq{};
};

/// Decides about appends and gives numbers: ownership, idempotency, order, lifecycle, bounds. What
/// it takes goes into the building batch; what it refuses changes nothing and uses no number.
///
/// Owner: the core thread. Lifetime: everything in Parts must outlive it.
class Admission {
 public:
  struct Parts {
    const Store& store;
    const Clock& clock;
    IdSource& ids;
    SubjectTable& subjects;
    Window& window;
    LiveBuilder& live;
  };
  Admission(Parts parts, AdmissionBounds bounds);

  /// Takes as many events as may be taken, from the front. `staged` moves into the batch.
  [[nodiscard]] Admitted admit(std::unique_ptr<Staged> staged);
  /// What whoever comes after a run's terminal is told: when and why it ended.
  [[nodiscard]] Error over(Subject& subject) const;
  /// Ends a run from inside, children first, past every bound and claim.
  void end_run(Subject& subject, Cause cause);
  /// An event of the bus's own, on its own subject. It has room of its own beyond every other;
  /// `backpressure` where that is full too, and nothing has changed.
  [[nodiscard]] Status note(Draft draft);
  /// A control record for the next batch.
  void control(const Record& record, std::string name, Bytes value);

  [[nodiscard]] bool has_work() const { return !building_->empty(); }
  [[nodiscard]] Batch& building() { return *building_; }
  /// The batch as it stands; a new one is begun.
  [[nodiscard]] std::unique_ptr<Batch> seal();

  [[nodiscard]] Position appended() const { return appended_; }
  /// Nothing behind `committed` was written (store_full): takes back numbers, ids and batches.
  void take_back(Position committed);
  /// An event that was committed by an earlier process: its id is remembered.
  void remember(const EventId& id, Position position) { ids_.add(id, position); }
  [[nodiscard]] std::size_t ids_remembered() const { return ids_.size(); }
  [[nodiscard]] std::size_t ids_max() const { return ids_.capacity(); }

 private:
  struct Duplicate {
    Position position{};
    Sequence seq{};
  };
  [[nodiscard]] Status check_order(const Staged& staged);
  [[nodiscard]] Status check_claim(Subject& subject, const Staged& staged) const;
  struct Room {
    std::size_t events = 0;
    std::size_t bytes = 0;
  };
  [[nodiscard]] Status check_room(const StagedEvent& event, Room reserve) const;
  [[nodiscard]] Status admit_event(Subject& subject,
                                   Staged& staged,
                                   std::size_t index,
                                   Admitted& admitted);
  [[nodiscard]] bool was_shown(Staged& staged, std::size_t index);
  [[nodiscard]] Status admit_ephemeral(Subject& subject, Staged& staged, const StagedEvent& event);
  [[nodiscard]] Status admit_durable(Subject& subject, Staged& staged, StagedEvent& event);
  [[nodiscard]] Result<std::optional<Duplicate>> find_duplicate(const Staged& staged,
                                                                const StagedEvent& event) const;
  void close_children(Subject& subject, TypeOf type, const Payload& payload, Cause cause);
  void number_own(Subject& subject, std::vector<Draft> drafts);
  void number(Subject& subject, Staged& staged, StagedEvent& event);
  void follow_lifecycle(Subject& subject, const Staged& staged, const StagedEvent& event);
  void admit_nameless(Staged& staged, Admitted& admitted);
  [[nodiscard]] WallMicros time_for(Subject& subject) const;

  Parts parts_;
  AdmissionBounds bounds_;
  IdWindow ids_;
  Refusals refusals_{};
  std::unique_ptr<Batch> building_ = std::make_unique<Batch>();
  Position appended_;
};

/// The machine of an open run, built from its stored events.
[[nodiscard]] Result<std::unique_ptr<RunMachine>> rebuild_machine(const Store& store,
                                                                  std::string_view subject);

}  // namespace runwire
