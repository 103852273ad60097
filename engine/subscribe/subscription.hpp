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
  std::optional<LogId> log{};            ///< Of the cursor, where it may come from another log.
  bool ephemeral = true;
  std::size_t events_max = limits::subscription_events_max;
  std::size_t bytes_max = limits::subscription_bytes_max;
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
/// Bounds: `events_max` and `bytes_max` wait for the reader; one event always fits. While it reads
/// history it has its own pace: what comes meanwhile and does not fit is read later. A live reader
/// over its bound is ended: after what had been queued, next() answers `slow_consumer` with
/// requested, last_delivered, earliest, latest, recovery, bound, observed and configured, for ever.
/// Ephemeral events come only while it is live.
class Subscription final : public LiveSink {
 public:
  /// `backpressure` when the set is full; `cursor_expired`, `cursor_ahead`, `cursor_foreign` with
  /// the facts where the cursor cannot be honoured.
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
  /// From the oldest to the newest event, as the subscription's cursors count.
  struct Extent {
    std::uint64_t earliest = 1;
    std::uint64_t latest = 0;
  };
  Subscription(const Engine& engine, BestEffortSet& set, SubscriptionOptions options);
  [[nodiscard]] Result<Extent> extent() const;
  [[nodiscard]] Status check_cursor() const;
  [[nodiscard]] bool has_room(std::size_t bytes) const;
  void overflow(std::size_t bytes);
  bool go_live();
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

  mutable std::mutex mutex_;
  bool live_ = false;    ///< History is read: what is queued comes next.
  bool missed_ = false;  ///< Something did not fit while history was read: read on.
  std::condition_variable arrived_;
  std::deque<Queued> queue_{};
  std::size_t queue_bytes_ = 0;
  bool over_ = false;  ///< Over its bound: nothing more is queued.
  std::string bound_{};
  std::uint64_t observed_ = 0;
  std::uint64_t configured_ = 0;
};

}  // namespace runwire
