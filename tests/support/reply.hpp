#pragma once

#include "engine/ports.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace runwire::test {

/// An outcome that another thread will give.
class Reply {
 public:
  /// What the engine calls; may outlive this object.
  [[nodiscard]] Respond respond() const {
    return [state = state_](Outcome outcome) {
      const std::scoped_lock lock(state->mutex);
      state->outcome = std::move(outcome);
      state->given.notify_all();
    };
  }
  [[nodiscard]] Outcome get() const {
    std::unique_lock lock(state_->mutex);
    state_->given.wait(lock, [this] { return state_->outcome.has_value(); });
    return std::move(*state_->outcome);
  }

 private:
  struct State {
    std::mutex mutex{};
    std::condition_variable given{};
    std::optional<Outcome> outcome{};
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace runwire::test
