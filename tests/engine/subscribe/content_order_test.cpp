#include "codec/wire/event_codec.hpp"
#include "engine/store/open.hpp"
#include "tests/support/running_engine.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace runwire;
using namespace std::chrono_literals;

namespace {

constexpr int parts = 60;
constexpr int deltas = 40;

std::unique_ptr<Store> memory() {
  SystemIds ids;
  return make_memory_store({}, ids);
}

std::string delta_text(int index) {
  return "<" + std::to_string(index) + ">";
}

/// Writes a run of `parts` pairs of contents whose deltas interleave.
class Writer {
 public:
  Writer(test::RunningEngine& engine, std::string run) : engine_(engine), run_(std::move(run)) {
    send("run.started", "{}");
    send("turn.started", R"({"turn":1})");
    send("model.started", R"({"turn":1,"operation_id":"op","model":"m","attempt":1})");
  }

  /// How many were refused.
  int write() {
    for (int part = 0; part < parts; ++part) {
      for (const char* root : {"text", "reasoning"})
        send(std::string(root) + ".started",
             "{" + identity(root, part) + R"(,"operation_id":"op"})");
      std::string text;
      for (int at = 0; at < deltas; ++at) {
        text += delta_text(at);
        for (const char* root : {"text", "reasoning"}) {
          send(std::string(root) + ".delta",
               "{" + identity(root, part) + R"(,"index":)" + std::to_string(at) + R"(,"delta":")" +
                   delta_text(at) + "\"}");
        }
      }
      for (const char* root : {"text", "reasoning"}) {
        send(std::string(root) + ".ended",
             "{" + identity(root, part) + R"(,"operation_id":"op","deltas":)" +
                 std::to_string(deltas) + R"(,"text":")" + text + "\"}");
      }
      settle();
    }
    return refused_;
  }

 private:
  static std::string identity(const std::string& root, int part) {
    return "\"" + root + R"(_id":")" + root + std::to_string(part) + "\"";
  }
  void send(const std::string& type, const std::string& data) {
    replies_.push_back(engine_.send(run_, type, data));
  }
  void settle() {
    for (const test::Reply& reply : replies_)
      refused_ += reply.get().error.has_value();
    replies_.clear();
  }

  test::RunningEngine& engine_;
  const std::string run_;
  std::vector<test::Reply> replies_{};
  int refused_ = 0;
};

/// Judges what one subscriber hears, through as many joins as it likes.
class Judge {
 public:
  [[nodiscard]] std::size_t complete() const { return ended_.size(); }
  [[nodiscard]] int wrong() const { return wrong_; }
  [[nodiscard]] std::size_t heard_whole() const { return heard_whole_; }

  void take(const Event& event) {
    const TypeOf type = classify(event.type);
    if (!type.content()) return;
    const auto payload = read_payload(type, event.data);
    if (!payload) return fail_if(true);
    const std::string key = event.subject + "/" + payload->content_id;
    if (type.step == Step::started) return fail_if(!open_.emplace(key, Content{}).second);
    fail_if(!open_.contains(key) || ended_.contains(key));
    Content& content = open_[key];
    if (type.step == Step::delta) {
      fail_if(payload->index < content.next);
      content.next = payload->index + 1;
      content.joined += delta_text(static_cast<int>(payload->index));
      ++content.heard;
      return;
    }
    ended_.insert(key);
    std::string whole;
    for (int at = 0; at < deltas; ++at)
      whole += delta_text(at);
    fail_if(payload->deltas != deltas || !event.data.contains("\"text\":\"" + whole + "\""));
    if (content.heard != deltas) return;  // some were missed: the full value is here
    ++heard_whole_;
    fail_if(content.joined != whole);
  }

 private:
  struct Content {
    std::uint64_t next = 0;
    int heard = 0;
    std::string joined{};
  };
  void fail_if(bool bad) { wrong_ += bad ? 1 : 0; }

  std::map<std::string, Content> open_{};
  std::set<std::string> ended_{};
  std::size_t heard_whole_ = 0;
  int wrong_ = 0;
};

/// Reads until every content has ended, leaving and joining again at random.
void follow(test::RunningEngine& engine, bool one_run, std::uint64_t seed, Judge& judge) {
  std::mt19937_64 random(seed);
  std::uint64_t after = 0;
  const std::size_t contents = (one_run ? 1U : 2U) * parts * 2U;
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (judge.complete() < contents && std::chrono::steady_clock::now() < until) {
    SubscriptionOptions options{.after = after, .events_max = 200};
    if (one_run) options.subject = "run-0";
    auto opened = Subscription::open(*engine.engine, engine.readers, options);
    if (!opened) return;
    for (auto left = 50 + random() % 2000; left > 0 && judge.complete() < contents; --left) {
      auto next = (*opened)->next(20ms);
      if (!next || !*next) break;  // ended as slow, or nothing for now: join again
      std::size_t offset = 0;
      judge.take(*wire::to_event(*wire::decode_event((*next)->encoded, offset)));
    }
    after = (*opened)->cursor();
  }
}

}  // namespace

TEST_CASE("C33 Subscription: at every reader a delta stands between its started and its ended",
          "[engine][subscribe][threads]") {
  test::RunningEngine engine(memory());
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::atomic<int> refused{0};
  std::vector<Judge> judges(12);
  {
    std::vector<std::jthread> threads;
    for (unsigned at = 0; at < judges.size(); ++at) {
      threads.emplace_back([&, at] { follow(engine, at % 2 == 0, seed + at, judges[at]); });
    }
    for (const char* run : {"run-0", "run-1"})
      threads.emplace_back([&, run] { refused += Writer(engine, run).write(); });
  }
  CHECK(refused == 0);
  for (std::size_t at = 0; at < judges.size(); ++at) {
    INFO("reader " << at << ", contents with all of their deltas: " << judges[at].heard_whole());
    CHECK(judges[at].wrong() == 0);
    CHECK(judges[at].complete() == (at % 2 == 0 ? 1U : 2U) * parts * 2U);
  }
}

TEST_CASE("C33 Subscription: during catch-up only durable events come", "[engine][subscribe]") {
  test::RunningEngine engine(memory());
  Judge judge;
  CHECK(Writer(engine, "run-0").write() == 0);
  const auto late = engine.subscribe({.subject = "run-0"});
  const std::uint64_t last = (*engine.engine->store().find_subject("run-0"))->last.value;
  while (late->cursor() < last) {
    auto next = late->next(1s);
    REQUIRE(next);
    REQUIRE(*next);
    CHECK((*next)->position != Position{});
    std::size_t offset = 0;
    judge.take(*wire::to_event(*wire::decode_event((*next)->encoded, offset)));
  }
  CHECK(judge.wrong() == 0);
  CHECK(judge.complete() == parts * 2U);
}
