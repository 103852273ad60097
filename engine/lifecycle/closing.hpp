#pragma once

#include "codec/base/ids.hpp"
#include "codec/event/event.hpp"
#include "codec/event/types.hpp"
#include "engine/lifecycle/run_machine.hpp"

#include <string_view>
#include <vector>

namespace runwire {

/// Why the engine ends what nobody else will.
enum class Cause : std::uint8_t {
  parent_failed,     ///< The scope around it fails.
  parent_cancelled,  ///< The scope around it is cancelled.
  engine_restart,    ///< The process that owned it died.
  owner_lost,        ///< The lease on the run lapsed.
};
[[nodiscard]] std::string_view to_string(Cause cause);

/// The terminal events for `scopes`, in their order. Cancelled parents cancel their children; every
/// other cause fails them. Ids come from `ids` at `now`.
[[nodiscard]] std::vector<Draft> close_scopes(const std::vector<OpenScope>& scopes,
                                              Cause cause,
                                              IdSource& ids,
                                              WallMicros now);
/// `run.failed` for `cause`.
[[nodiscard]] Draft close_run(Cause cause, IdSource& ids, WallMicros now);

}  // namespace runwire
