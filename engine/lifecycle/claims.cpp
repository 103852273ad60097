#include "engine/lifecycle/claims.hpp"

#include <algorithm>

namespace runwire {

Result<bool> Claims::claim(Subject& subject, const InstanceId& holder, Epoch epoch, Instant now) {
  if (ended(subject.state)) {
    return fail(Error{ErrorCode::lifecycle, "the run has ended; there is nothing to own", {}}
                    .with("subject", subject.name)
                    .with("state", to_string(subject.state)));
  }
  if (subject.claim) {
    const bool same = subject.claim->holder == holder && subject.claim->epoch == epoch;
    if (same) {
      subject.claim->lapses = now + lease_;
      return false;
    }
    if (epoch <= subject.claim->epoch) {
      return fail(
          Error{ErrorCode::fenced, "the run is claimed; take it over with a higher epoch", {}}
              .with("subject", subject.name)
              .with("epoch", subject.claim->epoch.value));
    }
  } else if (claimed_.size() >= claims_max) {
    return fail(
        Error{ErrorCode::backpressure, "too many runs are claimed", {}}.with("limit", claims_max));
  }
  restore(subject, holder, epoch, now);
  return true;
}

void Claims::restore(Subject& subject, const InstanceId& holder, Epoch epoch, Instant now) {
  subject.claim = RunClaim{.holder = holder, .epoch = epoch, .lapses = now + lease_};
  claimed_.insert(&subject);
  if (board_ != nullptr) board_->set(subject.name, epoch);
  look_by(subject.claim->lapses);
}

bool Claims::renew(Subject* subject, const InstanceId& holder, Epoch epoch, Instant now) {
  if (subject == nullptr || !subject->claim) return false;
  if (subject->claim->holder != holder || subject->claim->epoch != epoch) return false;
  subject->claim->lapses = now + lease_;
  return true;
}

std::vector<Subject*> Claims::lapsed(Instant now) {
  std::vector<Subject*> over;
  if (!next_look_ || *next_look_ > now) return over;
  next_look_.reset();
  std::erase_if(claimed_, [&](Subject* subject) {
    const bool gone = !subject->claim;
    if (gone || subject->claim->lapses <= now) {
      if (!gone) over.push_back(subject);
      take_off_board(*subject);
      return true;
    }
    look_by(subject->claim->lapses);
    return false;
  });
  // The set has no order of its own; runs end in the order of their names, the same in every
  // replay.
  std::ranges::sort(
      over, {}, [](const Subject* subject) -> const std::string& { return subject->name; });
  return over;
}

void Claims::forget(Subject* subject) {
  if (claimed_.erase(subject) != 0) take_off_board(*subject);
}

void Claims::take_off_board(const Subject& subject) {
  if (board_ != nullptr) board_->erase(subject.name);
}

void Claims::look_by(Instant when) {
  if (!next_look_ || when < *next_look_) next_look_ = when;
}

}  // namespace runwire
