#pragma once

#include "codec/base/bytes.hpp"
#include "codec/base/clock.hpp"
#include "codec/base/ids.hpp"
#include "codec/base/strong.hpp"
#include "engine/lifecycle/run_machine.hpp"
#include "engine/store/store.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace runwire {

/// Who may append to a run, and until when unless it is renewed. Persisted but for the time.
struct RunClaim {
  InstanceId holder{};
  Epoch epoch{};
  Instant lapses{};
};

/// An ephemeral event that waits until the durable one before it may be shown.
struct HeldEvent {
  Sequence after{};
  Bytes encoded{};
};

/// What the core knows of one subject. Owner: the core thread.
struct Subject {
  std::string name{};
  Sequence last{};                ///< Numbered; not all committed yet.
  Sequence published{};           ///< Offered to best-effort readers.
  std::uint64_t unpublished = 0;  ///< Durable events numbered and not published.
  RunState state = RunState::none;
  bool local = false;        ///< The run was started inside this process.
  std::string end_reason{};  ///< Of an ended run, once somebody has had to know.
  LogId origin{};
  OwnerTerm owner_term{1};
  WallMicros time = 0;                    ///< Of the last event: never goes down within a subject.
  std::unique_ptr<RunMachine> machine{};  ///< While the run is open.
  std::optional<RunClaim> claim{};
  std::deque<HeldEvent> held{};
  std::size_t held_bytes = 0;
  // Scratch of the batch being built: see LiveBuilder.
  std::uint64_t live_batch = 0;
  std::uint32_t live_index = 0;

  /// Nothing here that the store does not know: may leave memory.
  [[nodiscard]] bool idle() const {
    return unpublished == 0 && held.empty() && !claim && !machine && published == last;
  }
};

}  // namespace runwire
