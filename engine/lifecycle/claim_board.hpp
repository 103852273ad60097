#pragma once

#include "codec/base/strong.hpp"

#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace runwire {

/// Which runs are claimed, for those who only list them: the claims themselves belong to the core.
///
/// Threads: any. Bound: as many entries as Claims lists (`Claims::claims_max`).
class ClaimBoard {
 public:
  void set(const std::string& subject, Epoch epoch) {
    const std::scoped_lock lock(mutex_);
    epochs_.insert_or_assign(subject, epoch);
  }

  void erase(const std::string& subject) {
    const std::scoped_lock lock(mutex_);
    epochs_.erase(subject);
  }

  /// The epoch under which it is held; nothing where it is not.
  [[nodiscard]] std::optional<Epoch> epoch_of(const std::string& subject) const {
    const std::scoped_lock lock(mutex_);
    const auto found = epochs_.find(subject);
    if (found == epochs_.end()) return std::nullopt;
    return found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Epoch> epochs_{};
};

}  // namespace runwire
