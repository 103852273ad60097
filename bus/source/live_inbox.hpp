#pragma once

#include "bus/source/bounds.hpp"
#include "engine/base/mailbox.hpp"
#include "engine/ports.hpp"

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

namespace runwire::bus {

/// What the core has published and the live thread has not sent: bounded by count and by bytes.
///
/// Threads: offer() from the core only, the rest from the live thread. A batch that does not fit is
/// dropped whole; its readers see the hole in the numbers and read.
class LiveInbox {
 public:
  explicit LiveInbox(std::size_t batches_max = bounds::live_pieces_max,
                     std::size_t bytes_max = bounds::live_bytes_max)
      : bytes_max_(bytes_max), batches_(batches_max) {}

  [[nodiscard]] bool offer(LiveBatch&& batch) {
    const std::size_t bytes = size_of(batch);
    if (bytes_.load(std::memory_order_relaxed) + bytes > bytes_max_) return false;
    if (batches_.try_push(batch) != Offer::accepted) return false;
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    return true;
  }

  std::size_t drain(std::vector<LiveBatch>& out) { return batches_.drain(out); }
  /// The batch was sent: its bytes are free again.
  void sent(std::size_t bytes) { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  [[nodiscard]] static std::size_t size_of(const LiveBatch& batch) {
    return batch.events.size() + batch.entries.size() * sizeof(LiveEntry);
  }
  [[nodiscard]] Wakeup& wakeup() { return batches_.wakeup(); }

 private:
  const std::size_t bytes_max_;
  std::atomic<std::size_t> bytes_{0};
  Mailbox<LiveBatch> batches_;
};

}  // namespace runwire::bus
