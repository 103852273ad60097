#pragma once

#include "codec/base/strong.hpp"
#include "engine/log/batch.hpp"
#include "engine/store/page.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>

namespace runwire {

/// The numbered events that are not acknowledged yet, in position order, in memory: what observers
/// are fed from and what is published next.
///
/// Owner: the core thread. Bound: the caller admits against events() and bytes(). Batches leave
/// whole, once their last event has been published.
class Window {
 public:
  /// A batch that has been numbered; its bytes must already be final.
  void add(std::unique_ptr<Batch> batch);

  [[nodiscard]] bool empty() const { return numbered_.empty(); }
  [[nodiscard]] std::size_t events() const { return numbered_.size(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Of the events behind `after`; what has left the window does not count.
  [[nodiscard]] std::size_t bytes_after(Position after) const;
  [[nodiscard]] const Numbered& front() const { return numbered_.front(); }
  [[nodiscard]] const std::deque<Numbered>& all() const { return numbered_; }
  void pop_front();
  /// Takes back what was never written: everything behind `last`.
  void drop_after(Position last);

  [[nodiscard]] bool holds(Position position) const;
  [[nodiscard]] const Numbered& at(Position position) const;
  /// Events in (after, upto] within the bounds. Pre: holds(next(after)).
  [[nodiscard]] Page read(Position after, Position upto, PageBounds bounds) const;

 private:
  std::deque<std::unique_ptr<Batch>> batches_{};
  std::deque<Numbered> numbered_{};
  std::size_t bytes_ = 0;
  std::uint64_t taken_in_ = 0;
};

}  // namespace runwire
