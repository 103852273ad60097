#pragma once

#include "codec/base/ids.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

namespace runwire {

/// Which appender was refused which event of which subject and has not gone on yet: what it had
/// pipelined behind the refused event must not be taken.
///
/// Owner: the core thread. Bound: `refusals_max`, oldest forgotten first.
class Refusals {
 public:
  static constexpr std::size_t refusals_max = 4096;

  void remember(const InstanceId& client, const std::string& subject, const EventId& id);
  [[nodiscard]] std::optional<EventId> find(const InstanceId& client,
                                            const std::string& subject) const;
  void forget(const InstanceId& client, const std::string& subject);
  [[nodiscard]] bool empty() const { return refused_.empty(); }
  [[nodiscard]] std::size_t size() const { return refused_.size(); }

 private:
  std::unordered_map<std::string, EventId> refused_{};  ///< By client bytes + subject.
  std::deque<std::string> order_{};
};

}  // namespace runwire
