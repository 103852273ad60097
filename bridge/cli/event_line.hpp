#pragma once

#include "codec/base/result.hpp"
#include "codec/event/event.hpp"

#include <string>
#include <string_view>

namespace runwire::cli {

struct EventLine {
  std::string subject{};
  Draft draft{};
};

/// One line of NDJSON as an event to append: `subject` (where `subject` is empty), `type`, and
/// perhaps `data`, `id`, `location`, `version`, `ephemeral`. What `tail` prints besides (`seq`,
/// `position`, `time`, `log`) belongs to the log it came from and is passed over.
///
/// `data` is handed on as it is written, so that no number is rounded here. Any thread. Errors:
/// `invalid`, naming the field; the rules of events are the server's to judge.
[[nodiscard]] Result<EventLine> event_of_line(std::string_view line, std::string_view subject);

}  // namespace runwire::cli
