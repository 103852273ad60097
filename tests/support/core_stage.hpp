#pragma once

#include "codec/wire/event_codec.hpp"
#include "engine/core.hpp"
#include "tests/support/counting_ids.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/support/scripted_store.hpp"

#include <catch2/catch.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace runwire::test {

/// Keeps what the engine shows: deliveries, fences, and everything published.
struct RecordingSinks final : ObserverSink, LiveSink {
  std::vector<ObserverDelivery> deliveries{};
  std::vector<std::pair<Epoch, Epoch>> fences{};
  std::vector<Event> shown{};  ///< In the order in which best-effort readers see them.
  std::vector<Position> shown_positions{};
  bool room = true;

  void attached(const Attachment& attachment, Respond respond) override {
    respond({.answer = wire::AttachReply{.observer = attachment.observer,
                                         .epoch = attachment.epoch,
                                         .acked = attachment.acked},
             .error = {}});
  }
  void deliver(ObserverDelivery&& delivery) override { deliveries.push_back(std::move(delivery)); }
  void detached(const std::string& /*observer*/, Epoch /*epoch*/) override {}
  void fenced(const std::string& /*observer*/, Epoch stale, Epoch current) override {
    fences.emplace_back(stale, current);
  }
  bool offer(LiveBatch&& batch) override {
    if (!room) return false;
    std::size_t offset = 0;
    for (const LiveEntry& entry : batch.entries) {
      const ByteView encoded = ByteView(batch.events).subspan(offset, entry.bytes);
      std::size_t start = 0;
      auto view = wire::decode_event(encoded, start);
      REQUIRE(view);
      shown.push_back(*wire::to_event(*view));
      shown_positions.push_back(entry.position);
      offset += entry.bytes;
    }
    return true;
  }
  [[nodiscard]] std::vector<std::string> shown_types() const {
    std::vector<std::string> types;
    for (const Event& event : shown)
      types.push_back(event.type);
    return types;
  }
};

/// The answer to one command, once it has come.
struct Answered {
  std::optional<Outcome> outcome{};
  [[nodiscard]] const wire::AppendReply& append() const {
    REQUIRE(outcome);
    return std::get<wire::AppendReply>(outcome->answer);
  }
  [[nodiscard]] ErrorCode code() const {
    REQUIRE(outcome);
    REQUIRE(outcome->error);
    return outcome->error->code;
  }
  [[nodiscard]] bool good() const { return outcome && !outcome->error; }
};

/// A core on a scripted store, driven by hand. reopen() is a kill -9: only the disk survives.
class CoreStage {
 public:
  explicit CoreStage(EngineOptions options = {}) : options_(std::move(options)) { open(); }

  ManualClock clock{};
  CountingIds ids{};
  RecordingSinks sinks{};
  ScriptedStore::Disk disk{};
  std::unique_ptr<ScriptedStore> store{};
  std::unique_ptr<Core> core{};

  void open() {
    store = std::make_unique<ScriptedStore>(disk);
    auto opened = Core::open(
        options_,
        {.store = *store, .clock = clock, .ids = ids, .observers = &sinks, .live = &sinks});
    REQUIRE(opened);
    core = std::move(*opened);
  }
  void reopen() {
    core.reset();
    sinks = {};
    open();
  }
  void reopen(EngineOptions options) {
    options_ = std::move(options);
    reopen();
  }

  /// One turn, and a batch if there is one: what came in is written.
  void step() {
    core->turn();
    const auto records = core->next_batch();
    if (core->writing()) core->completed(store->append(records));
    core->turn();
  }
  /// Until nothing moves any more.
  void settle() {
    do {
      step();
    } while (core->has_work());
  }

  Answered& append(wire::Append request, InstanceId client = {}, bool local = false) {
    for (Draft& draft : request.events) {
      if (draft.id == EventId{}) draft.id = ids.event_id(clock.wall());
    }
    auto staged = stage(std::move(request), client);
    staged->local = local;
    Answered& answered = answers_.emplace_back();
    staged->respond = [&answered](Outcome outcome) { answered.outcome = std::move(outcome); };
    core->take(std::move(staged));
    return answered;
  }
  /// Appends one event and writes it.
  Answered& put(const std::string& subject,
                const std::string& type,
                const std::string& data = "{}") {
    Answered& answered = append({.subject = subject, .events = {draft(type, data)}});
    settle();
    return answered;
  }
  Answered& command(wire::Operation operation, InstanceId client = {}) {
    Answered& answered = answers_.emplace_back();
    core->take(std::move(operation), client, [&answered](Outcome outcome) {
      answered.outcome = std::move(outcome);
    });
    settle();
    return answered;
  }
  Epoch attach(const std::string& observer) {
    Answered& answered = command(wire::Attach{.observer = observer});
    REQUIRE(answered.good());
    return std::get<wire::AttachReply>(answered.outcome->answer).epoch;
  }
  void ack(const std::string& observer, Epoch epoch, std::uint64_t position) {
    core->take(wire::Ack{.observer = observer,
                         .log = store->log_id(),
                         .term = store->term(),
                         .epoch = epoch,
                         .position = {position}});
    settle();
  }

  static Draft draft(const std::string& type, const std::string& data = "{}") {
    const TypeOf of = classify(type);
    return {.type = type, .durable = !of.ephemeral(), .data = data};
  }
  [[nodiscard]] std::vector<std::string> stored_types(const std::string& subject) const {
    auto page = store->read_subject(
        subject, {}, store->last(), {.events_max = 100'000, .bytes_max = 1U << 30});
    REQUIRE(page);
    auto events = wire::decode_events(page->events);
    REQUIRE(events);
    std::vector<std::string> types;
    for (const EventView& event : *events)
      types.emplace_back(event.type);
    return types;
  }

 private:
  EngineOptions options_;
  std::deque<Answered> answers_{};
};

}  // namespace runwire::test
