#pragma once

#include "codec/base/bytes.hpp"
#include "codec/base/result.hpp"
#include "codec/wire/messages.hpp"
#include "engine/engine.hpp"
#include "engine/store/store.hpp"

#include <cstddef>

namespace runwire::bus {

/// One page as it goes on the wire.
struct PlannedPage {
  wire::PageReply reply{};
  Bytes events{};
};

/// Count, first and last of a page, and its positions where they have holes.
void fill_span(wire::Span& span, const Page& page);

/// Answers a read from the store as `now` stands: which level, whether the cursor can be honoured,
/// what the page says of itself. `bytes_max` is the room that the client has left.
///
/// Threads: any. Errors: cursor_ahead (judged against what is committed), cursor_foreign,
/// cursor_expired, corrupt: each with the facts of docs/protocol.md.
[[nodiscard]] Result<PlannedPage> plan_page(const Store& store,
                                            const Positions& now,
                                            const wire::Read& read,
                                            std::size_t bytes_max);

/// The subject's last sequence with a position up to `upto`; what was trimmed counts as seen.
/// Costs a few small reads, and none where the subject has nothing beyond `upto`.
[[nodiscard]] Result<Sequence> last_at_level(const Store& store,
                                             const SubjectInfo& info,
                                             Position upto);

/// A subject as readers at `upto` may know it: its last sequence and its state there.
struct Shown {
  Sequence last{};
  RunState state = RunState::none;
  LogId origin{};
  OwnerTerm owner_term{1};
};
[[nodiscard]] Result<Shown> shown_at_level(const Store& store,
                                           std::string_view subject,
                                           Position upto);

}  // namespace runwire::bus
