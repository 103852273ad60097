#include "engine/store/store.hpp"

namespace runwire {

std::string_view to_string(RunState state) {
  switch (state) {
    case RunState::none:
      return "none";
    case RunState::open:
      return "open";
    case RunState::completed:
      return "completed";
    case RunState::failed:
      return "failed";
    case RunState::cancelled:
      return "cancelled";
  }
  return "none";
}

}  // namespace runwire
