#pragma once

#include <string>
#include <string_view>

namespace runwire::cli {

enum class Paint { faint, strong, good, bad, warning, plain };

/// Colours are for a terminal, and for nobody who set NO_COLOR (no-color.org) or TERM=dumb.
[[nodiscard]] bool colours_wanted();
/// `text` in a colour, or as it is where colours are not wanted.
[[nodiscard]] std::string painted(Paint paint, std::string_view text);
/// The paint of a run's end or an event's type, by its last word: `run.failed`, `cancelled`.
[[nodiscard]] Paint paint_of(std::string_view type);
/// `text` without what would steer a terminal: it is somebody else's. Keeps line ends and tabs.
[[nodiscard]] std::string printable(std::string text);

}  // namespace runwire::cli
