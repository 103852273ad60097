#pragma once

#include "codec/base/clock.hpp"
#include "codec/wire/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace runwire::client {

/// The runs that one client holds: what to ask the server for, so that they stay held. Renews all
/// of them in one request, and claims them again after another term or where one was lost.
///
/// Passive: knows neither sockets nor time. Owner: one thread. Bound: bounds::claims_max runs.
class Claims {
 public:
  /// The server has granted the claim.
  void hold(const std::string& subject, Epoch epoch, std::chrono::milliseconds lease, Instant now);
  /// The run has ended, and its claim with it.
  void forget(const std::string& subject) { held_.erase(subject); }
  [[nodiscard]] bool has_room(const std::string& subject) const;
  /// The epoch to append under. A lost claim keeps it: the refusal then says who holds the run.
  [[nodiscard]] std::optional<Epoch> epoch_of(const std::string& subject) const;
  /// Wants the claim taken again, as next() will say. False where it is not, or no longer, held.
  bool again(const std::string& subject);

  /// The next request to send: a claim to take again, or a renewal that is due.
  [[nodiscard]] std::optional<wire::Operation> next(Instant now, Term term);
  void sent(std::uint64_t rid, const wire::Operation& operation);
  /// True where the reply was to one of sent().
  bool answered(const wire::Reply& reply);

 private:
  struct Held {
    Epoch epoch{};
    bool lost = false;
  };
  void judge_claim(const std::string& subject, const wire::Reply& reply);
  void judge_renewal(const wire::Reply& reply);
  [[nodiscard]] std::optional<wire::Operation> renewal(Instant now);

  std::map<std::string, Held> held_{};
  std::deque<std::string> wanted_{};              ///< To be claimed again.
  std::map<std::uint64_t, std::string> asked_{};  ///< Claims without a reply, by rid.
  std::optional<std::uint64_t> renewing_{};
  std::optional<Term> term_{};
  Instant renew_at_{};
  std::chrono::milliseconds pause_{};
};

}  // namespace runwire::client
