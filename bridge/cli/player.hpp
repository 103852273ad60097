#pragma once

#include "bridge/play/recording.hpp"
#include "bus/client/appender.hpp"
#include "codec/base/clock.hpp"
#include "codec/base/result.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace runwire::cli {

/// One recording on its way into the log, as the run of an agent.
struct Playing {
  std::string subject{};
  std::vector<play::Step> steps{};
  std::size_t next = 0;  ///< The first step that was not submitted.
  std::size_t accepted = 0;
  Instant due{};           ///< Of the step `next`.
  bool under_way = false;  ///< A request of it is not answered.
  std::string end{};       ///< The type of its last event.
  std::optional<Error> error{};

  [[nodiscard]] bool done() const { return error || (!under_way && next == steps.size()); }
};

/// Appends the steps of several recordings at their pace, all on one connection.
///
/// Owner: one thread. Bound: `request_events_max` events a request, one request a run under way.
class Player {
 public:
  static constexpr std::size_t request_events_max = 256;
  static constexpr std::size_t request_bytes_max = std::size_t{1} << 20;

  /// `speed` 0: without pauses.
  Player(client::Appender& appender, double speed, bool claims)
      : appender_(appender), speed_(speed), claims_(claims) {}

  void add(std::string subject, std::vector<play::Step> steps);
  /// Until all have ended or `stop` says so.
  Status run(const std::function<bool()>& stop);
  [[nodiscard]] const std::deque<Playing>& playing() const { return playing_; }

 private:
  void start(Playing& run, Instant now);
  Status submit_due(Playing& run, Instant now);
  void answered(Playing& run, Result<client::Appended> outcome);
  [[nodiscard]] Instant after(Instant before, const play::Step& step) const;

  client::Appender& appender_;
  double speed_;
  bool claims_;
  std::deque<Playing> playing_{};
};

}  // namespace runwire::cli
