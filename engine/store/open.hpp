#pragma once

#include "codec/base/clock.hpp"
#include "codec/base/ids.hpp"
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

/// Larger than what the engine may still owe to its observers, so that nothing owed ever goes.
struct MemoryOptions {
  std::size_t log_events_max = std::size_t{1} << 18;  ///< Oldest first out; at least one stays.
  std::size_t log_bytes_max = std::size_t{256} << 20;
};

/// A store without a disk: tests and embedded use. SyncMode::none. A subject's numbers outlive its
/// events, so that none is ever used twice.
[[nodiscard]] std::unique_ptr<Store> make_memory_store(const MemoryOptions& options, IdSource& ids);

}  // namespace runwire
