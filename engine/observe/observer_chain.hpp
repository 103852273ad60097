#pragma once

#include "codec/base/clock.hpp"
#include "codec/base/result.hpp"
#include "codec/wire/messages.hpp"
#include "engine/log/admission.hpp"
#include "engine/observe/required_observer.hpp"
#include "engine/store/store.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace runwire {

/// The required observers in construction order, each bounded by the one before, and the names that
/// are no longer configured.
///
/// Owner: the core thread. Bound: limits::observers_max. Errors of one observer hold it back (it
/// tries again after `trouble_delay`), not the others.
class ObserverChain {
 public:
  static constexpr std::chrono::milliseconds trouble_delay{1'000};

  /// Takes the stored acks up where they were. A name that was not in the last recorded order
  /// starts at the acknowledged position of those that were (or at the start, by option), and gates
  /// only what comes after it has caught up.
  /// `skip_after` is by name; a name that is not there is held.
  ObserverChain(const std::vector<std::string>& names,
                bool new_from_start,
                const Store& store,
                ObserverBounds bounds,
                const std::map<std::string, std::uint64_t>& skip_after = {});

  /// Records for the store where the order, a starting ack or a gate is new.
  void record_start(Admission& admission) const;
  /// Every observer goes as far as the one before it allows. Returns work done.
  std::size_t advance(Position committed, Instant now, const Backlog& backlog, ObserverSink* sink);
  /// What all of them have acked, at most `committed`.
  [[nodiscard]] Position acknowledged(Position committed) const;

  [[nodiscard]] RequiredObserver* find(const std::string& name);
  /// The first observer that has not acked `position`.
  [[nodiscard]] const RequiredObserver* late_for(Position position) const;
  [[nodiscard]] bool empty() const { return observers_.empty(); }

  /// Acks that moved since they were last written become records of the batch being built.
  void record_acks(Admission& admission);
  void ack_moved(Instant now);
  /// When moved acks are to be written although nothing else is.
  [[nodiscard]] std::optional<Instant> acks_due() const { return acks_due_; }
  [[nodiscard]] std::optional<Instant> next_due() const;
  [[nodiscard]] std::vector<wire::ObserverRow> rows(Position committed) const;

 private:
  struct Place {
    RequiredObserver observer;
    std::optional<Position> stored{};  ///< The ack as last written.
    Position stored_gate{};
    std::optional<Instant> trouble_until{};
    std::string trouble{};
  };
  std::deque<Place> observers_{};
  std::vector<AckInfo> retired_{};
  std::vector<std::string> recorded_order_{};
  std::optional<Instant> acks_due_{};
};

}  // namespace runwire
