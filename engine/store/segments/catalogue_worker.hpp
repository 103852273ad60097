#pragma once

#include "codec/base/result.hpp"
#include "engine/store/segments/catalogue.hpp"
#include "engine/store/segments/view.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

namespace runwire::segments {

/// Takes sealed segments up into the catalogue, on a thread of its own: SQLite's work and its syncs
/// are not in an append's way. Nothing waits for it: a segment that is not catalogued yet is read
/// through its index in memory, and by the next opening from its file.
///
/// Threads: the store thread calls. Lifetime: view and catalogue outlive it; its end waits until
/// what is sealed was tried once. Bound: `behind_max` segments.
class CatalogueWorker {
 public:
  static constexpr std::size_t behind_max = 8;

  CatalogueWorker(View& view, Catalogue& catalogue);
  ~CatalogueWorker();
  CatalogueWorker(const CatalogueWorker&) = delete;
  CatalogueWorker& operator=(const CatalogueWorker&) = delete;

  /// One more segment was sealed.
  void sealed();
  /// Waits for the worker when it is `behind_max` behind. The catalogue's error when it stays so.
  Status make_room();

 private:
  void run();
  void take_up();

  View& view_;
  Catalogue& catalogue_;
  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::uint64_t asked_ = 0;
  std::uint64_t done_ = 0;  ///< Of those asked.
  bool ending_ = false;
  std::optional<Error> error_{};  ///< Of the last try.
  std::jthread thread_{};         ///< Last: it uses all of the above.
};

}  // namespace runwire::segments
