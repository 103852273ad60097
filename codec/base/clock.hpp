#pragma once

#include <chrono>
#include <cstdint>

namespace runwire {

/// A reading of the monotonic clock: intervals, deadlines and leases, never order.
using Instant = std::chrono::steady_clock::time_point;

/// Microseconds since 1970 on the wall clock: information for people, never order.
using WallMicros = std::uint64_t;

/// Where the engine gets its time. Implementations are called from the core thread only.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Instant now() const = 0;
  [[nodiscard]] virtual WallMicros wall() const = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const override { return std::chrono::steady_clock::now(); }
  [[nodiscard]] WallMicros wall() const override {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<WallMicros>(
        std::chrono::duration_cast<std::chrono::microseconds>(since).count());
  }
};

}  // namespace runwire
