#pragma once

#include "codec/base/clock.hpp"
#include "codec/base/ids.hpp"
#include "codec/base/result.hpp"
#include "engine/lifecycle/claim_board.hpp"
#include "engine/log/subject.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace runwire {

/// Who holds which run, and whose time is up. The claim itself lies in its Subject; this is the
/// list of those that have one.
///
/// Owner: the core thread. Bound: `claims_max`. Errors: `fenced` with the epoch that holds.
class Claims {
 public:
  static constexpr std::size_t claims_max = 65536;

  /// `board`: where others see them; may be null, else it must outlive this.
  explicit Claims(std::chrono::milliseconds lease, ClaimBoard* board = nullptr)
      : lease_(lease), board_(board) {}

  /// Takes, renews or takes over. Returns true where the claim is new and has to be recorded.
  Result<bool> claim(Subject& subject, const InstanceId& holder, Epoch epoch, Instant now);
  /// A claim that a stored record proves: its lease starts anew in full.
  void restore(Subject& subject, const InstanceId& holder, Epoch epoch, Instant now);
  /// False where `holder` no longer holds it.
  bool renew(Subject* subject, const InstanceId& holder, Epoch epoch, Instant now);
  /// Those whose lease is over; they are no longer listed. Claims of ended runs go quietly.
  [[nodiscard]] std::vector<Subject*> lapsed(Instant now);

  [[nodiscard]] std::optional<Instant> next_due() const { return next_look_; }
  [[nodiscard]] std::size_t size() const { return claimed_.size(); }
  [[nodiscard]] std::chrono::milliseconds lease() const { return lease_; }
  void forget(Subject* subject);

 private:
  void look_by(Instant when);
  void take_off_board(const Subject& subject);

  const std::chrono::milliseconds lease_;
  ClaimBoard* board_;
  std::unordered_set<Subject*> claimed_{};  ///< A claimed subject never leaves the table.
  std::optional<Instant> next_look_{};
};

}  // namespace runwire
