#include "bus/client/append_lane.hpp"

#include "bus/client/bounds.hpp"

#include <catch2/catch.hpp>

using namespace runwire;
using namespace runwire::client;
using namespace std::chrono_literals;

namespace {

constexpr Instant start{1h};

EventId id_of(std::uint64_t number) {
  EventId id;
  id.bytes[15] = static_cast<std::byte>(number);
  return id;
}

/// A submission of events `first`, `first + 1` ...
Submission asked(std::uint64_t first, std::uint64_t count = 1) {
  Submission submission;
  submission.request.subject = "run-1";
  for (std::uint64_t number = first; number < first + count; ++number) {
    submission.request.events.push_back({.id = id_of(number), .type = "acme.made", .data = "{}"});
  }
  submission.deadline = start + 30s;
  return submission;
}

/// A reply that takes `taken` events, numbered from `seq`.
wire::Reply reply_of(std::uint64_t taken, std::uint64_t seq, std::optional<ErrorCode> code = {}) {
  wire::AppendReply answer;
  answer.taken = taken;
  for (std::uint64_t at = 0; at < taken; ++at) {
    answer.seqs.push_back(Sequence{seq + at});
    answer.positions.push_back(Position{100 + seq + at});
  }
  wire::Reply reply;
  reply.op = "append";
  reply.answer = std::move(answer);
  if (code) reply.error = Error{*code, "no", {}};
  return reply;
}

wire::Reply error_of(ErrorCode code) {
  wire::Reply reply;
  reply.op = "append";
  reply.error = Error{code, "no", {}};
  return reply;
}

struct Stage {
  AppendLane lane{};
  std::vector<AppendLane::Finished> finished{};
  int reclaims = 0;
  bool claim_held = true;

  wire::Append send() {
    REQUIRE(lane.waits());
    return lane.make_request({});
  }
  void answer(wire::Reply reply, Instant now = start) {
    finished.clear();
    lane.answered(std::move(reply), now, [this] { return ++reclaims, claim_held; }, finished);
  }
  ErrorCode code(std::size_t at) const {
    REQUIRE(finished.at(at).result);
    REQUIRE(finished.at(at).result->error);
    return finished.at(at).result->error->code;
  }
};

}  // namespace

TEST_CASE("AppendLane: one request at a time; what waits meanwhile goes together", "[client]") {
  Stage stage;
  stage.lane.add(asked(1));
  CHECK(stage.send().events.size() == 1);
  stage.lane.add(asked(2));
  stage.lane.add(asked(3, 2));
  CHECK_FALSE(stage.lane.waits());
  stage.answer(reply_of(1, 1));
  REQUIRE(stage.finished.size() == 1);
  CHECK(stage.finished[0].result->reply.seqs == std::vector{Sequence{1}});
  CHECK(stage.send().events.size() == 3);
  auto reply = reply_of(3, 2);
  std::get<wire::AppendReply>(reply.answer).duplicates = {0, 2};
  stage.answer(std::move(reply));
  REQUIRE(stage.finished.size() == 2);
  CHECK(stage.finished[0].result->reply.duplicates == std::vector<std::uint64_t>{0});
  CHECK(stage.finished[1].result->reply.seqs == std::vector{Sequence{3}, Sequence{4}});
  CHECK(stage.finished[1].result->reply.duplicates == std::vector<std::uint64_t>{1});
  CHECK(stage.lane.empty());
}

TEST_CASE("AppendLane: more than one request may hold is sent in parts", "[client]") {
  Stage stage;
  stage.lane.add(asked(1, limits::append_events_max + 5));
  CHECK(stage.send().events.size() == limits::append_events_max);
  stage.answer(reply_of(limits::append_events_max, 1));
  CHECK(stage.finished.empty());
  CHECK(stage.send().events.size() == 5);
  stage.answer(reply_of(5, limits::append_events_max + 1));
  REQUIRE(stage.finished.size() == 1);
  CHECK(stage.finished[0].result->reply.taken == limits::append_events_max + 5);
}

TEST_CASE("AppendLane: backpressure is waited out with growing pauses, from the refused event on",
          "[client]") {
  Stage stage;
  stage.lane.add(asked(1, 3));
  stage.lane.add(asked(4));
  static_cast<void>(stage.send());
  stage.answer(reply_of(1, 1, ErrorCode::backpressure));
  CHECK(stage.finished.empty());
  CHECK(stage.lane.due() == start + bounds::retry_first);
  const wire::Append again = stage.send();
  CHECK(again.events.front().id == id_of(2));
  CHECK(again.events.size() == 3);  // Nothing has overtaken it.
  stage.answer(error_of(ErrorCode::backpressure));
  CHECK(stage.lane.due() == start + 2 * bounds::retry_first);
  static_cast<void>(stage.send());
  stage.answer(reply_of(3, 2));
  REQUIRE(stage.finished.size() == 2);
  CHECK(stage.finished[0].result->reply.seqs == std::vector{Sequence{1}, Sequence{2}, Sequence{3}});
}

TEST_CASE("AppendLane: backpressure at the deadline is the answer", "[client]") {
  Stage stage;
  stage.lane.add(asked(1));
  static_cast<void>(stage.send());
  stage.answer(error_of(ErrorCode::backpressure), start + 30s);
  REQUIRE(stage.finished.size() == 1);
  CHECK(stage.code(0) == ErrorCode::backpressure);
}

TEST_CASE("AppendLane: what stands behind a refusal is out of order; what comes later goes on",
          "[client]") {
  Stage stage;
  stage.lane.add(asked(1, 2));
  stage.lane.add(asked(3));
  static_cast<void>(stage.send());
  stage.lane.add(asked(4));
  stage.answer(reply_of(1, 1, ErrorCode::lifecycle));
  REQUIRE(stage.finished.size() == 3);
  CHECK(stage.code(0) == ErrorCode::lifecycle);
  CHECK(stage.finished[0].result->reply.taken == 1);
  CHECK(stage.code(1) == ErrorCode::out_of_order);
  CHECK(stage.finished[1].result->error->text("refused") == to_string(id_of(2)));
  CHECK(stage.code(2) == ErrorCode::out_of_order);
  stage.lane.add(asked(5));
  CHECK(stage.send().go_on);
  stage.answer(reply_of(1, 2));
  stage.lane.add(asked(6));
  CHECK_FALSE(stage.send().go_on);
}

TEST_CASE("AppendLane: what says go_on goes on behind a refusal", "[client]") {
  Stage stage;
  stage.lane.add(asked(1));
  static_cast<void>(stage.send());
  stage.lane.add(asked(2));
  Submission on = asked(3);
  on.request.go_on = true;
  stage.lane.add(std::move(on));
  stage.answer(error_of(ErrorCode::invalid));
  CHECK(stage.finished.size() == 2);
  const wire::Append next = stage.send();
  CHECK(next.events.front().id == id_of(3));
  CHECK(next.go_on);
}

TEST_CASE("AppendLane: an unknown outcome is an error for all that stood behind it", "[client]") {
  Stage stage;
  stage.lane.add(asked(1));
  static_cast<void>(stage.send());
  stage.lane.add(asked(2));
  stage.answer(error_of(ErrorCode::timed_out));
  REQUIRE(stage.finished.size() == 2);
  for (const auto& one : stage.finished) {
    REQUIRE_FALSE(one.result);
    CHECK(one.result.error().code == ErrorCode::timed_out);
  }
  CHECK(stage.lane.goes_on());
}

TEST_CASE("AppendLane: what an observer says comes after the commit and stops nothing",
          "[client]") {
  Stage stage;
  stage.lane.add(asked(1));
  static_cast<void>(stage.send());
  stage.lane.add(asked(2));
  stage.answer(reply_of(1, 1, ErrorCode::observer_timeout));
  REQUIRE(stage.finished.size() == 1);
  CHECK(stage.code(0) == ErrorCode::observer_timeout);
  CHECK(stage.finished[0].result->reply.taken == 1);
  CHECK_FALSE(stage.send().go_on);
}

TEST_CASE("AppendLane: a server that closes is asked again for everything", "[client]") {
  Stage stage;
  stage.lane.add(asked(1, 2));
  static_cast<void>(stage.send());
  stage.answer(reply_of(2, 1, ErrorCode::closed));
  CHECK(stage.finished.empty());
  const wire::Append again = stage.send();
  CHECK(again.events.size() == 2);
  CHECK(again.again);
}

TEST_CASE("AppendLane: a claim that is missing is taken again once", "[client]") {
  Stage stage;
  stage.lane.add(asked(1));
  static_cast<void>(stage.send());
  stage.answer(error_of(ErrorCode::not_owner));
  CHECK(stage.finished.empty());
  static_cast<void>(stage.send());
  stage.answer(error_of(ErrorCode::not_owner));
  CHECK(stage.reclaims == 1);
  REQUIRE(stage.finished.size() == 1);
  CHECK(stage.code(0) == ErrorCode::not_owner);
}

TEST_CASE("AppendLane: expect counts what was taken of the same append", "[client]") {
  Stage stage;
  Submission submission = asked(1, 3);
  submission.request.expect = Sequence{7};
  stage.lane.add(std::move(submission));
  CHECK(stage.send().expect == Sequence{7});
  stage.answer(reply_of(2, 8, ErrorCode::backpressure));
  CHECK(stage.send().expect == Sequence{9});
}

TEST_CASE("AppendLane: a reply that does not match its request is not believed", "[client]") {
  Stage stage;
  stage.lane.add(asked(1));
  static_cast<void>(stage.send());
  stage.answer(reply_of(2, 1));
  REQUIRE(stage.finished.size() == 1);
  CHECK(stage.code(0) == ErrorCode::invalid);
}
