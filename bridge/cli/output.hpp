#pragma once

#include "codec/base/ids.hpp"
#include "codec/event/event.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace runwire::cli {

/// For people on a terminal, or one JSON object a line for everything else.
enum class Style { human, ndjson };
/// `human` only where standard output is a terminal and JSON was not asked for.
[[nodiscard]] Style style_of(bool json_asked);

[[nodiscard]] std::string json_string(std::string_view text);
/// One event as a JSON object. `position` 0: ephemeral. `log` is named where it is given.
[[nodiscard]] std::string json_of(const Event& event,
                                  Position position,
                                  std::optional<LogId> log = {});
/// `12:30:01.250`, local time.
[[nodiscard]] std::string clock_of(WallMicros time);

/// Prints events for people: a line each, and the text of a run as it streams in.
///
/// Owner: one thread; writes to standard output.
class EventPrinter {
 public:
  explicit EventPrinter(Style style) : style_(style) {}
  /// False: nobody reads our output any more.
  bool print(const Event& event, Position position);
  /// Ends a line of streamed text, so that something else can be printed.
  void break_line();
  bool flush();

 private:
  void print_human(const Event& event);
  bool print_delta(const Event& event);

  Style style_;
  std::string streaming_{};  ///< The subject whose text stands on an open line.
};

}  // namespace runwire::cli
