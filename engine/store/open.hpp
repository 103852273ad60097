#pragma once

#include "codec/base/clock.hpp"
#include "codec/base/ids.hpp"
#include "codec/base/limits.hpp"
#include "engine/store/store.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace runwire {

class Disk;

struct SegmentsOptions {
  std::string directory{};                                    ///< Required. Created when missing.
  std::uint64_t segment_bytes_max = std::uint64_t{64} << 20;  ///< Roll to a new file after this.
};

/// Opens the default store: segment files that hold the truth, a SQLite catalogue beside them.
/// Takes the directory's lock (`locked` names the holder), recovers, and grows the term by one.
/// `ids` and `clock` are used during the call only.
[[nodiscard]] Result<std::unique_ptr<Store>> open_segments(const SegmentsOptions& options,
                                                           IdSource& ids,
                                                           const Clock& clock);

/// The same over any disk; the catalogue is then kept in memory and rebuilt at each open. For
/// simulation and tests. `disk` must outlive the store.
[[nodiscard]] Result<std::unique_ptr<Store>> open_segments_on(Disk& disk,
                                                              const SegmentsOptions& options,
                                                              IdSource& ids,
                                                              const Clock& clock);

/// Oldest first out, of each run and of all together; at least one event stays. What the engine
/// owes to its observers it holds itself (EngineOptions::window_*), so none of that ever goes.
struct MemoryOptions {
  std::size_t run_events_max = limits::memory_run_events_max;  ///< And the run's end on top.
  std::size_t run_bytes_max = limits::memory_run_bytes_max;    ///< And the run's end on top.
  std::size_t log_events_max = limits::memory_log_events_max;
  std::size_t log_bytes_max = limits::memory_log_bytes_max;
  std::size_t subjects_max = limits::memory_subjects_max;  ///< One more is `store_full`.
};

/// A store without a disk: tests and embedded use. SyncMode::none. A subject's numbers outlive its
/// events, so that none is ever used twice.
[[nodiscard]] std::unique_ptr<Store> make_memory_store(const MemoryOptions& options, IdSource& ids);

}  // namespace runwire
