#include "tests/support/core_stage.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace runwire;
using namespace std::chrono_literals;
using test::Answered;
using test::CoreStage;

namespace {

/// A random life of one engine: appends, retries, acks, refusals, attaches, crashes, time. After
/// each step what the outside saw is held against what the design promises.
class Life {
 public:
  explicit Life(std::uint64_t seed)
      : random_(seed), stage_({.required = {"audit", "billing"}, .ack_deadline = 500ms}) {}

  void live(int steps) {
    for (int step = 0; step < steps; ++step) {
      act();
      look();
    }
    drain();
    look();
    check_log();
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  void act() {
    switch (below(12)) {
      case 0:
        return crash();
      case 1:
        epochs_["audit"] = stage_.attach("audit");
        return;
      case 2:
        epochs_["billing"] = stage_.attach("billing");
        return;
      case 3:
        stage_.clock.advance(std::chrono::milliseconds(below(700)));
        stage_.step();
        return;
      case 4:
      case 5:
        return ack("audit");
      case 6:
      case 7:
        return ack("billing");
      case 8:
        return retry();
      default:
        return append();
    }
  }

  void append() {
    static const std::vector<std::string> types{
        "run.started", "run.completed", "acme.x", "acme.x", "acme.x"};
    wire::Append request{.subject = "run-" + std::to_string(below(4))};
    const std::uint64_t count = 1 + below(3);
    for (std::uint64_t at = 0; at < count; ++at) {
      Draft draft = CoreStage::draft(types[below(types.size())]);
      if (draft.type == "acme.x" && below(3) == 0) draft.durable = false;
      draft.id = stage_.ids.event_id(0);
      request.events.push_back(draft);
    }
    sent_.push_back(request);
    answers_.push_back(&stage_.append(std::move(request)));
    if (below(2) == 0) stage_.step();
  }

  void retry() {
    if (sent_.empty()) return;
    wire::Append request = sent_[below(sent_.size())];
    request.again = true;
    sent_.push_back(request);
    answers_.push_back(&stage_.append(std::move(request)));
    stage_.step();
  }

  void ack(const std::string& observer) {
    std::uint64_t delivered = 0;
    for (const ObserverDelivery& delivery : stage_.sinks.deliveries) {
      if (delivery.observer == observer && delivery.epoch == epochs_[observer]) {
        delivered = std::max(delivered, delivery.page.entries.back().position.value);
      }
    }
    if (delivered == 0) return;
    const std::uint64_t position = 1 + below(delivered);
    acked_[observer] = std::max(acked_[observer], position);
    if (observer == "billing") CHECK(position <= acked_["audit"]);
    stage_.core->take(wire::Ack{.observer = observer,
                                .log = stage_.store->log_id(),
                                .term = stage_.store->term(),
                                .epoch = epochs_[observer],
                                .position = {position}});
    stage_.step();
  }

  void crash() {
    remember_answers();
    answers_.clear();
    seen_ = 0;
    epochs_.clear();
    stage_.reopen();
  }

  /// What was answered as committed must be on the disk, as it was answered, for ever.
  void remember_answers() {
    for (std::size_t at = 0; at < answers_.size(); ++at) {
      const Answered& answered = *answers_[at];
      if (!answered.outcome || !std::holds_alternative<wire::AppendReply>(answered.outcome->answer))
        continue;
      const wire::AppendReply& reply = answered.append();
      const wire::Append& request = sent_[sent_.size() - answers_.size() + at];
      for (std::size_t event = 0; event < reply.taken; ++event) {
        if (!request.events[event].durable) continue;
        const auto [known, fresh] =
            receipts_.emplace(request.events[event].id, reply.positions[event]);
        REQUIRE(known->second == reply.positions[event]);
      }
    }
  }

  /// Nothing is shown that not every observer has acked; positions only grow.
  void look() {
    Position before = last_shown_;
    for (; seen_ < stage_.sinks.shown.size(); ++seen_) {
      const Position position = stage_.sinks.shown_positions[seen_];
      if (position == Position{}) continue;
      CHECK(position.value <= acked_["billing"]);
      CHECK(position > before);
      before = position;
    }
    const Positions at = stage_.core->positions();
    CHECK(at.published <= at.acknowledged);
    CHECK(at.acknowledged <= at.committed);
    CHECK(at.committed <= at.appended);
  }

  void drain() {
    crash();
    for (const char* observer : {"audit", "billing"}) {
      epochs_[observer] = stage_.attach(observer);
      const std::uint64_t all = stage_.core->positions().committed.value;
      for (int tries = 0; tries < 1000 && all > 0; ++tries) {
        std::uint64_t delivered = 0;
        for (const ObserverDelivery& delivery : stage_.sinks.deliveries) {
          if (delivery.observer == observer)
            delivered = delivery.page.entries.back().position.value;
        }
        if (delivered == 0) break;  // everything was acked before the crash
        acked_[observer] = std::max(acked_[observer], delivered);
        stage_.ack(observer, epochs_[observer], delivered);
        if (delivered == all) break;
      }
    }
    CHECK(stage_.core->positions().published == stage_.core->positions().committed);
  }

  void check_log() {
    auto page = stage_.store->read_log(
        {}, stage_.store->last(), {.events_max = 100'000, .bytes_max = 1U << 30});
    REQUIRE(page);
    auto events = wire::decode_events(page->events);
    REQUIRE(events);
    std::map<std::string, std::uint64_t> seqs;
    std::map<std::string, int> terminals;
    std::set<EventId> ids;
    std::map<EventId, std::uint64_t> positions;
    for (std::size_t at = 0; at < events->size(); ++at) {
      const EventView& event = (*events)[at];
      const std::string subject(event.subject);
      CHECK(event.durable->seq.value == ++seqs[subject]);
      CHECK(ids.insert(event.id).second);
      CHECK(terminals[subject] == 0);
      if (classify(event.type).root == Root::run && classify(event.type).terminal())
        ++terminals[subject];
      positions[event.id] = at + 1;
    }
    for (const auto& [id, position] : receipts_)
      CHECK(positions.at(id) == position.value);
  }

  std::mt19937_64 random_;
  CoreStage stage_;
  std::map<std::string, Epoch> epochs_{};
  std::map<std::string, std::uint64_t> acked_{};
  std::vector<wire::Append> sent_{};
  std::vector<const Answered*> answers_{};
  std::map<EventId, Position> receipts_{};
  std::size_t seen_ = 0;
  Position last_shown_{};
};

}  // namespace

TEST_CASE("Core: random lives keep every promise", "[engine][core][property]") {
  const std::uint64_t base = std::random_device{}();
  for (std::uint64_t at = 0; at < 60; ++at) {
    INFO("seed " << base + at);
    Life(base + at).live(250);
  }
}
