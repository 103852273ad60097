#pragma once

#include "codec/base/result.hpp"
#include "engine/log/subject.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace runwire {

/// The subjects that something happens to. One that is not here is asked from the store; one that
/// is idle may leave again, oldest first, once there are more than `subjects_max`.
///
/// Owner: the core thread. Lifetime: the store must outlive it. A Subject& holds until the next
/// forget_idle(). Bound: `subjects_max` idle ones on top of those that are busy.
class SubjectTable {
 public:
  static constexpr std::size_t subjects_max = 65536;

  explicit SubjectTable(const Store& store, std::size_t idle_max = subjects_max)
      : store_(store), idle_max_(idle_max) {}

  /// The subject, made where neither memory nor the store knows it.
  [[nodiscard]] Result<Subject*> find_or_make(std::string_view name);
  [[nodiscard]] Subject* in_memory(std::string_view name);
  /// Lets go of idle subjects over the bound; looks at a few each time it is called.
  void forget_idle();
  [[nodiscard]] std::size_t size() const { return subjects_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  const Store& store_;
  const std::size_t idle_max_;
  std::unordered_map<std::string, std::unique_ptr<Subject>, Hash, std::equal_to<>> subjects_{};
  std::deque<std::string> order_{};  ///< Arrival, for forgetting.
};

}  // namespace runwire
