#pragma once

#include "codec/base/bytes.hpp"
#include "codec/base/limits.hpp"
#include "codec/base/result.hpp"
#include "codec/base/strong.hpp"
#include "engine/engine.hpp"
#include "engine/subscribe/best_effort_set.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace runwire {

struct SubscriptionOptions {
  std::optional<std::string> subject{};  ///< Absent: the whole log, cursors are positions.
  std::uint64_t after = 0;               ///< Exclusive.
  bool ephemeral = true;
  std::size_t events_max = limits::in_flight_events_max;
  std::size_t bytes_max = limits::in_flight_bytes_max;
};

struct SubscribedEvent {
  Bytes encoded{};
  Position position{};  ///< 0: ephemeral.
  Sequence seq{};       ///< 0: ephemeral.
};

/// A reader inside the process: history first, then live, without a hole between them. It is
/// captured before the first event is read, so nothing can fall between the two.
///
/// Threads: next() from one reader; the core offers. Lifetime: engine and set must outlive it.
/// Bounds: `events_max` and `bytes_max` wait for the reader. A reader over them is ended: after
/// what had been queued, next() answers `slow_consumer` with last_delivered, earliest, latest,
/// recovery, bound, observed and configured, and nothing follows.
class Subscription final : public LiveSink {
 public:
  /// `backpressure` when the set is full; cursor errors as Store::read_log.
  static Result<std::unique_ptr<Subscription>> open(const Engine& engine,
                                                    BestEffortSet& set,
                                                    SubscriptionOptions options);
  ~Subscription() override;
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;
  Subscription(Subscription&&) = delete;
  Subscription& operator=(Subscription&&) = delete;

  /// The next event, or nullopt after `timeout`.
  Result<std::optional<SubscribedEvent>> next(std::chrono::milliseconds timeout);
  [[nodiscard]] std::uint64_t cursor() const { return cursor_; }
  [[nodiscard]] bool offer(LiveBatch&& batch) override;

 private:
  struct Queued {
    SubscribedEvent event{};
    std::uint64_t place = 0;  ///< Of a durable event; of the durable one before an ephemeral one.
  };
  Subscription(const Engine& engine, BestEffortSet& set, SubscriptionOptions options);
  [[nodiscard]] std::uint64_t place_of(Position position, Sequence seq) const;
  Result<bool> read_history();
  [[nodiscard]] std::optional<SubscribedEvent> take_page_event();
  [[nodiscard]] std::optional<SubscribedEvent> take_queued();
  [[nodiscard]] Error slow() const;

  const Engine& engine_;
  BestEffortSet& set_;
  const SubscriptionOptions options_;
  std::uint64_t cursor_;
  Page page_{};  ///< History being handed out.
  std::size_t page_at_ = 0;
  std::size_t page_offset_ = 0;
  bool live_ = false;

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Queued> queue_{};
  std::size_t queue_bytes_ = 0;
  bool over_ = false;  ///< Over its bound: nothing more is queued.
  std::string bound_{};
  std::uint64_t observed_ = 0;
  std::uint64_t configured_ = 0;
};

}  // namespace runwire
