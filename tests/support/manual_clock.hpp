#pragma once

#include "codec/base/clock.hpp"

#include <chrono>

namespace runwire::test {

/// Time that stands still until a test moves it.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const override { return now_; }
  [[nodiscard]] WallMicros wall() const override { return wall_; }
  void advance(std::chrono::milliseconds by) {
    now_ += by;
    wall_ += static_cast<WallMicros>(std::chrono::microseconds(by).count());
  }
  void set_wall(WallMicros wall) { wall_ = wall; }

 private:
  Instant now_{std::chrono::hours(1)};
  WallMicros wall_ = 1'790'000'000'000'000;
};

}  // namespace runwire::test
