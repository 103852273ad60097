#include "engine/log/receipts.hpp"

#include <algorithm>
#include <utility>

namespace runwire {
namespace {

Error committed_but(ErrorCode code, std::string message, const Waiting& waiting) {
  return Error{code, std::move(message), {}}
      .with("seq", waiting.last_seq.value)
      .with("position", waiting.last.value);
}

}  // namespace

void Receipts::refuse(Waiting& waiting, ErrorCode code, const std::string& observer) {
  waiting.outcome.error =
      committed_but(code,
                    "committed, but a required observer has not acked it in time; "
                    "it stays committed and owed",
                    waiting)
          .with("observer", observer);
  waiting.respond(std::move(waiting.outcome));
}

void Receipts::refused(Position position, const std::string& observer, const std::string& reason) {
  std::erase_if(waiting_, [&](Waiting& waiting) {
    if (waiting.first > position || waiting.last < position) return false;
    waiting.outcome.error =
        committed_but(ErrorCode::observer_refused,
                      "committed, but a required observer refused it; it stays committed and owed",
                      waiting)
            .with("observer", observer)
            .with("reason", reason);
    waiting.respond(std::move(waiting.outcome));
    return true;
  });
}

void Receipts::close(const Error& error) {
  for (Waiting& waiting : waiting_) {
    waiting.outcome.error = committed_but(error.code, error.message, waiting);
    waiting.respond(std::move(waiting.outcome));
  }
  waiting_.clear();
}

std::optional<Instant> Receipts::next_due() const {
  if (waiting_.empty()) return std::nullopt;
  return std::ranges::min_element(waiting_, {}, &Waiting::due)->due;
}

}  // namespace runwire
