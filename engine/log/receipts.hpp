#pragma once

#include "codec/base/clock.hpp"
#include "codec/base/strong.hpp"
#include "engine/log/batch.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <string>

namespace runwire {

/// Appenders whose events are committed and who asked to hear when every required observer has
/// acked them.
///
/// Owner: the core thread. Bound: one for each committed append that is not acknowledged, so that
/// the window bounds it.
class Receipts {
 public:
  void add(Waiting waiting) { waiting_.push_back(std::move(waiting)); }

  /// Answers those up to `acknowledged`; those past their deadline are told who is late.
  template <class WhoIsLate>
  std::size_t answer(Position acknowledged, Instant now, const WhoIsLate& who_is_late) {
    return std::erase_if(waiting_, [&](Waiting& waiting) {
      if (waiting.last <= acknowledged) {
        waiting.respond(std::move(waiting.outcome));
        return true;
      }
      if (waiting.due > now) return false;
      refuse(waiting, ErrorCode::observer_timeout, who_is_late(waiting.last));
      return true;
    });
  }
  /// The event at `position` was refused by `observer`: its appender is told.
  void refused(Position position, const std::string& observer, const std::string& reason);
  /// Ends every wait with `error`.
  void close(const Error& error);

  [[nodiscard]] bool empty() const { return waiting_.empty(); }
  [[nodiscard]] std::size_t size() const { return waiting_.size(); }
  [[nodiscard]] std::optional<Instant> next_due() const;

 private:
  static void refuse(Waiting& waiting, ErrorCode code, const std::string& observer);

  std::deque<Waiting> waiting_{};
};

}  // namespace runwire
