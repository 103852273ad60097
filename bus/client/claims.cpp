#include "bus/client/claims.hpp"

#include "bus/client/bounds.hpp"

#include <algorithm>
#include <utility>

namespace runwire::client {
namespace {

/// Three renewals fit into a lease, also into one that is shorter than usual.
std::chrono::milliseconds pause_for(std::chrono::milliseconds lease) {
  return std::clamp(lease * 3 / 10, std::chrono::milliseconds{1}, limits::lease_renew);
}

/// Somebody else holds the run, or nobody can any more.
bool is_lost(ErrorCode code) {
  return code == ErrorCode::fenced || code == ErrorCode::lifecycle || code == ErrorCode::not_owner;
}

}  // namespace

void Claims::hold(const std::string& subject,
                  Epoch epoch,
                  std::chrono::milliseconds lease,
                  Instant now) {
  if (held_.empty()) {
    pause_ = pause_for(lease);
    renew_at_ = now + pause_;
  }
  held_.insert_or_assign(subject, Held{epoch});
}

bool Claims::has_room(const std::string& subject) const {
  return held_.contains(subject) || held_.size() < bounds::claims_max;
}

std::optional<Epoch> Claims::epoch_of(const std::string& subject) const {
  const auto found = held_.find(subject);
  if (found == held_.end()) return std::nullopt;
  return found->second.epoch;
}

bool Claims::again(const std::string& subject) {
  const auto found = held_.find(subject);
  if (found == held_.end() || found->second.lost) return false;
  if (std::ranges::find(wanted_, subject) == wanted_.end()) wanted_.push_back(subject);
  return true;
}

std::optional<wire::Operation> Claims::next(Instant now, Term term) {
  if (term_ && *term_ != term) {
    for (const auto& [subject, held] : held_)
      again(subject);
  }
  term_ = term;
  while (!wanted_.empty()) {
    const auto found = held_.find(wanted_.front());
    wanted_.pop_front();
    if (found != held_.end()) return wire::Claim{found->first, found->second.epoch};
  }
  return renewal(now);
}

std::optional<wire::Operation> Claims::renewal(Instant now) {
  if (renewing_ || held_.empty() || now < renew_at_) return std::nullopt;
  renew_at_ = now + pause_;
  wire::Renew renew;
  for (const auto& [subject, held] : held_) {
    if (!held.lost) renew.claims.emplace_back(subject, held.epoch);
  }
  if (renew.claims.empty()) return std::nullopt;
  return renew;
}

void Claims::sent(std::uint64_t rid, const wire::Operation& operation) {
  if (const auto* claim = std::get_if<wire::Claim>(&operation)) {
    asked_.emplace(rid, claim->subject);
  } else {
    renewing_ = rid;
  }
}

bool Claims::answered(const wire::Reply& reply) {
  if (renewing_ == reply.rid) {
    renewing_.reset();
    judge_renewal(reply);
    return true;
  }
  const auto found = asked_.find(reply.rid);
  if (found == asked_.end()) return false;
  const std::string subject = std::move(found->second);
  asked_.erase(found);
  judge_claim(subject, reply);
  return true;
}

void Claims::judge_claim(const std::string& subject, const wire::Reply& reply) {
  if (!reply.error) return;
  const auto found = held_.find(subject);
  if (found == held_.end()) return;
  // Any other refusal is of the moment: the next renewal finds the claim missing and asks again.
  if (is_lost(reply.error->code)) found->second.lost = true;
}

void Claims::judge_renewal(const wire::Reply& reply) {
  const auto* renewed = std::get_if<wire::RenewReply>(&reply.answer);
  if (renewed == nullptr) return;
  if (renewed->lease_ms > 0) {
    pause_ =
        pause_for(std::chrono::milliseconds(std::min<std::uint64_t>(renewed->lease_ms, 3'600'000)));
  }
  for (const std::string& subject : renewed->lost)
    again(subject);
}

}  // namespace runwire::client
