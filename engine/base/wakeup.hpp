#pragma once

#include "codec/base/clock.hpp"

#include <chrono>

namespace runwire {

/// An eventfd: wakes a thread that waits in wait() or polls fd() beside its sockets.
/// Threads: raise() from any; clear() and wait() from the one that is woken.
class Wakeup {
 public:
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;
  Wakeup(Wakeup&&) = delete;
  Wakeup& operator=(Wakeup&&) = delete;

  void raise() noexcept;
  void clear() noexcept;
  /// Returns when raised or after `timeout`, whichever is first. Does not clear.
  void wait(std::chrono::milliseconds timeout) const noexcept;
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  int fd_;
};

}  // namespace runwire
