#include "bus/client/join.hpp"
#include "tests/bus/client/event_frames.hpp"

#include <deque>
#include <optional>
#include <random>
#include <set>
#include <string>

using namespace runwire;
using namespace runwire::client;

namespace {

/// A random life of one reader: a log that grows, a live way that drops, repeats and is cut, pages
/// of any size, servers that restart. Whatever happens, what was handed on must be 1, 2, 3 ...
class Life {
 public:
  explicit Life(std::uint64_t seed)
      : random_(seed),
        join_({.follow = true,
               .buffer_messages_max = 1 + random_() % 12,
               .buffer_bytes_max = 2'000 + random_() % 20'000}) {}

  void live(int steps) {
    for (int step = 0; step < steps; ++step) {
      act();
      look();
    }
    calm();
    REQUIRE(heard_ == events_.size());
  }
  [[nodiscard]] const EventsCounters& counters() const { return join_.counters(); }

 private:
  struct Sent {
    wire::Live live{};
    std::vector<test::Made> events{};
  };

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  void act() {
    switch (below(16)) {
      case 0:
        return restart_server();
      case 1:
        return join_.lost("cut");
      case 2:
        return beacon();
      case 3:
      case 4:
      case 5:
      case 6:
        return publish();
      case 7:
      case 8:
      case 9:
        return deliver_live();
      case 10:
      case 11:
        return ask();
      default:
        return answer();
    }
  }

  void connect() {
    if (!join_.restart()) return;
    live_.clear();  // The socket is a new one.
    join_.start(LogId{}, term_);
    if (below(8) != 0) beacon();
  }

  void restart_server() {
    term_ = next(term_);
    counter_ = 0;
    live_.clear();
    asked_.clear();  // Their replies died with the server.
    beacon();        // The socket connects again by itself.
  }

  void publish() {
    Sent sent{.live = header(wire::Live::Kind::events)};
    sent.live.prev = events_.size();
    for (std::uint64_t count = 1 + below(4); count > 0; --count) {
      if (below(3) == 0) {
        sent.events.push_back({.place = events_.size(), .durable = false, .number = ++ephemeral_});
      } else {
        events_.push_back({.place = events_.size() + 1});
        sent.events.push_back(events_.back());
      }
    }
    send(std::move(sent));
  }

  void beacon() {
    Sent sent{.live = header(wire::Live::Kind::beacon)};
    sent.live.last = events_.size();
    send(std::move(sent));
  }

  wire::Live header(wire::Live::Kind kind) {
    wire::Live live;
    live.kind = kind;
    live.term = term_;
    live.counter = ++counter_;
    return live;
  }

  void send(Sent sent) {
    const std::uint64_t fate = calm_ ? 9 : below(10);
    if (fate == 0) return;
    if (fate == 1) live_.push_back(sent);
    live_.push_back(std::move(sent));
  }

  void deliver_live() {
    connect();
    if (live_.empty()) return;
    const Sent sent = std::move(live_.front());
    live_.pop_front();
    wire::Live live = sent.live;
    bus::Frame frame;
    if (!sent.events.empty()) {
      test::Framed framed = test::framed(sent.events);
      live.span = framed.span;
      frame = std::move(framed.events);
    }
    join_.live(live, std::move(frame));
  }

  void ask() {
    connect();
    const auto read = join_.want();
    if (!read) return;
    join_.sent(++rid_, *read);
    asked_.emplace_back(rid_, *read);
  }

  void answer() {
    if (asked_.empty()) return;
    const auto at = asked_.begin() + static_cast<std::ptrdiff_t>(below(asked_.size()));
    const auto [rid, read] = *at;
    asked_.erase(at);
    if (!calm_ && below(8) == 0) return join_.unanswered(rid);
    const std::uint64_t there =
        events_.size() - std::min<std::uint64_t>(events_.size(), read.after);
    const std::uint64_t count = std::min({there, read.max_events, 1 + below(20)});
    test::Framed framed = test::framed(test::made_up(read.after + 1, read.after + count));
    wire::PageReply page;
    page.span = framed.span;
    page.next = read.after + count;
    page.latest = events_.size();
    page.end = count == there;
    join_.page(rid, LogId{}, term_, std::move(page), std::move(framed.events));
  }

  void look() {
    REQUIRE_FALSE(join_.failure());
    while (const auto item = join_.take()) {
      const auto* heard = std::get_if<Heard>(&*item);
      if (heard == nullptr) continue;
      if (heard->event.durable) {
        REQUIRE(heard->event.durable->seq.value == ++heard_);
        REQUIRE(heard->position.value == heard_);
      } else {
        // In its place, and not twice.
        REQUIRE(heard->event.data.ends_with("\"place\":" + std::to_string(heard_) + "}"));
        REQUIRE(shown_.insert(heard->event.data).second);
      }
    }
  }

  /// Nothing is lost any more: then everything must come.
  void calm() {
    calm_ = true;
    for (int round = 0;
         round < 10'000 && !(join_.phase() == Join::Phase::live && heard_ == events_.size());
         ++round) {
      if (live_.empty() && (round % 16 == 0)) beacon();
      deliver_live();
      ask();
      answer();
      look();
    }
  }

  std::mt19937_64 random_;
  Join join_;
  std::vector<test::Made> events_{};
  std::deque<Sent> live_{};
  std::deque<std::pair<std::uint64_t, wire::Read>> asked_{};
  std::set<std::string> shown_{};
  Term term_{1};
  std::uint64_t counter_ = 0;
  std::uint64_t ephemeral_ = 0;
  std::uint64_t rid_ = 0;
  std::uint64_t heard_ = 0;
  bool calm_ = false;
};

}  // namespace

TEST_CASE("Join: through losses, repeats, cuts and restarts every durable event once and in order",
          "[client][property]") {
  EventsCounters seen;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    Life life(seed);
    life.live(400);
    seen.ephemeral += life.counters().ephemeral;
    seen.repeats_dropped += life.counters().repeats_dropped;
    seen.late_dropped += life.counters().late_dropped;
    seen.holes_healed += life.counters().holes_healed;
    seen.resumes += life.counters().resumes;
  }
  // The lives were lively: each of these ways was taken.
  CHECK(seen.ephemeral > 0);
  CHECK(seen.repeats_dropped > 0);
  CHECK(seen.late_dropped > 0);
  CHECK(seen.holes_healed > 0);
  CHECK(seen.resumes > 0);
}
