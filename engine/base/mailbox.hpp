#pragma once

#include "engine/base/wakeup.hpp"

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace runwire {

/// What became of an item that was offered to another thread. On `full` and `closed` it stays with
/// the caller, who decides: refuse, drop and count, or wait.
enum class Offer { accepted, full, closed };

/// The one way in which threads hand things over: many producers, one consumer, whole batches.
///
/// Threads: try_push() and close() from any; drain() from the consumer only. Never blocks for
/// space. Bound: `items_max` of the constructor. Wake-up: the consumer polls `wakeup()`, which is
/// raised once for a batch, not once for an item.
template <class T>
class Mailbox {
 public:
  explicit Mailbox(std::size_t items_max) : items_max_(items_max) {}

  [[nodiscard]] Offer try_push(T& item) {
    bool first = false;
    {
      const std::scoped_lock lock(mutex_);
      if (closed_) return Offer::closed;
      if (items_.size() >= items_max_) return Offer::full;
      first = items_.empty();
      items_.push_back(std::move(item));
    }
    if (first) wakeup_.raise();
    return Offer::accepted;
  }

  /// Moves everything that waits into `out` (which is cleared first). Returns how many.
  std::size_t drain(std::vector<T>& out) {
    out.clear();
    wakeup_.clear();
    const std::scoped_lock lock(mutex_);
    out.swap(items_);
    return out.size();
  }

  /// Later offers answer `closed`; what waits can still be drained.
  void close() {
    {
      const std::scoped_lock lock(mutex_);
      closed_ = true;
    }
    wakeup_.raise();
  }

  [[nodiscard]] std::size_t size() const {
    const std::scoped_lock lock(mutex_);
    return items_.size();
  }
  [[nodiscard]] const Wakeup& wakeup() const { return wakeup_; }
  [[nodiscard]] Wakeup& wakeup() { return wakeup_; }

 private:
  const std::size_t items_max_;
  mutable std::mutex mutex_;
  std::vector<T> items_;
  bool closed_ = false;
  Wakeup wakeup_;
};

}  // namespace runwire
