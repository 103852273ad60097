#pragma once

#include "codec/base/strong.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace runwire::client {

/// What one consumer was owed, was handed, has acked and has said so: four positions.
///
/// Passive. Owner: one thread. What is handed out follows the acked position without a hole; what
/// does not fit, behind a refused event, comes again from the server and is dropped.
class DeliveryCursor {
 public:
  /// The consumer's own position, where it keeps one.
  explicit DeliveryCursor(std::optional<Position> own)
      : known_(own.has_value()), acked_(own.value_or(Position{})) {}

  /// A new attach; the server has `stored` as acked. What was handed out and not acked comes again.
  void attached(Position stored) {
    if (!known_) acked_ = stored;
    known_ = true;
    handed_ = acked_;
    behind_ = std::max(stored, acked_);
    delivered_ = ack_sent_ = stored;
  }
  /// Acked in this consumer's name, and not known to it: to be read from the log, up to `behind()`.
  [[nodiscard]] bool is_behind() const { return handed_ < behind_; }
  [[nodiscard]] Position behind() const { return behind_; }

  /// Events `first` to `last` came, or were read. How many of the front ones are known; nullopt
  /// where nothing of it is to be handed out.
  std::optional<std::size_t> came(Position first, Position last) {
    return came(Position{first.value - 1}, first, last);
  }
  /// The same where nothing between `prev` and `first` is owed. `first` to `last` have no hole.
  std::optional<std::size_t> came(Position prev, Position first, Position last) {
    std::uint64_t known = 0;
    if (first <= acked_) {
      known = std::min(last, acked_).value - first.value + 1;
      // The server does not know of an ack that was sent: it is sent again.
      ack_sent_ = std::min(ack_sent_, Position{first.value - 1});
    }
    repeats_ += known;
    const Position before = known == 0 ? prev : Position{first.value + known - 1};
    if (before > handed_) return std::nullopt;
    delivered_ = std::max(delivered_, last);
    if (last <= acked_) return std::nullopt;
    handed_ = std::max(handed_, last);
    return static_cast<std::size_t>(known);
  }

  /// False where `position` was never handed out.
  bool ack(Position position) {
    if (position > handed_) return false;
    acked_ = std::max(acked_, position);
    return true;
  }
  bool refuse(Position position) {
    if (position > handed_ || position <= acked_) return false;
    acked_ = handed_ = Position{position.value - 1};
    return true;
  }

  /// Up to where the server may be told: acked here, and delivered in this attach.
  [[nodiscard]] Position to_ack() const { return std::min(acked_, delivered_); }
  /// The ack to send, if there is news.
  [[nodiscard]] std::optional<Position> ack_due() const {
    if (to_ack() > ack_sent_) return to_ack();
    return std::nullopt;
  }
  void ack_sent(Position position) { ack_sent_ = position; }

  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] Position acked() const { return acked_; }
  [[nodiscard]] Position handed() const { return handed_; }
  [[nodiscard]] std::uint64_t repeats() const { return repeats_; }

 private:
  bool known_;
  Position acked_;     ///< By the user: the effect is safe.
  Position handed_{};  ///< To the user.
  Position behind_{};
  Position delivered_{};  ///< By the server, in this attach.
  Position ack_sent_{};
  std::uint64_t repeats_ = 0;
};

}  // namespace runwire::client
