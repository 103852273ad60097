#include "bus/client/claims.hpp"

#include "bus/client/bounds.hpp"

#include <catch2/catch.hpp>

using namespace runwire;
using namespace runwire::client;
using namespace std::chrono_literals;

namespace {

constexpr Instant start{1h};

wire::Reply renewed(std::uint64_t rid, std::vector<std::string> lost) {
  wire::Reply reply;
  reply.rid = rid;
  reply.op = "renew";
  reply.answer = wire::RenewReply{10'000, std::move(lost)};
  return reply;
}

wire::Reply refused(std::uint64_t rid, ErrorCode code) {
  wire::Reply reply;
  reply.rid = rid;
  reply.op = "claim";
  reply.error = Error{code, "no", {}};
  return reply;
}

}  // namespace

TEST_CASE("Claims: all are renewed in one request, when that is due", "[client]") {
  Claims claims;
  CHECK_FALSE(claims.next(start, Term{1}));
  claims.hold("a", Epoch{1}, 10s, start);
  claims.hold("b", Epoch{4}, 10s, start);
  CHECK(claims.epoch_of("b") == Epoch{4});
  CHECK_FALSE(claims.epoch_of("c"));
  CHECK_FALSE(claims.next(start + 2'999ms, Term{1}));
  const auto operation = claims.next(start + 3s, Term{1});
  REQUIRE(operation);
  const auto& renew = std::get<wire::Renew>(*operation);
  REQUIRE(renew.claims.size() == 2);
  CHECK(renew.claims[1] == std::pair{std::string("b"), Epoch{4}});
  claims.sent(7, *operation);
  CHECK_FALSE(claims.next(start + 9s, Term{1}));  // One renewal at a time.
  CHECK_FALSE(claims.answered(renewed(6, {})));
  CHECK(claims.answered(renewed(7, {})));
  CHECK(claims.next(start + 9s, Term{1}));
}

TEST_CASE("Claims: three renewals fit into a lease that is shorter than usual", "[client]") {
  Claims claims;
  claims.hold("a", Epoch{1}, 1s, start);
  CHECK_FALSE(claims.next(start + 299ms, Term{1}));
  CHECK(claims.next(start + 300ms, Term{1}));
}

TEST_CASE("Claims: another term, or a renewal that says lost, takes the claim again", "[client]") {
  Claims claims;
  claims.hold("a", Epoch{2}, 10s, start);
  CHECK_FALSE(claims.next(start, Term{1}));
  const auto again = claims.next(start, Term{2});
  REQUIRE(again);
  CHECK(std::get<wire::Claim>(*again).epoch == Epoch{2});
  claims.sent(1, *again);
  CHECK_FALSE(claims.next(start, Term{2}));
  const auto renew = claims.next(start + 4s, Term{2});
  REQUIRE(renew);
  claims.sent(2, *renew);
  CHECK(claims.answered(renewed(2, {"a"})));
  const auto lost = claims.next(start + 4s, Term{2});
  REQUIRE(lost);
  CHECK(std::get<wire::Claim>(*lost).subject == "a");
}

TEST_CASE("Claims: one that somebody else holds is not asked for again, and keeps its epoch",
          "[client]") {
  Claims claims;
  claims.hold("a", Epoch{2}, 10s, start);
  REQUIRE(claims.again("a"));
  const auto again = claims.next(start, Term{1});
  REQUIRE(again);
  claims.sent(1, *again);
  CHECK(claims.answered(refused(1, ErrorCode::fenced)));
  CHECK_FALSE(claims.again("a"));
  CHECK(claims.epoch_of("a") == Epoch{2});
  CHECK_FALSE(claims.next(start + 1h, Term{1}));
  CHECK_FALSE(claims.next(start + 1h, Term{2}));
}

TEST_CASE("Claims: a forgotten one is neither renewed nor taken again; the room has a bound",
          "[client]") {
  Claims claims;
  claims.hold("a", Epoch{1}, 10s, start);
  REQUIRE(claims.again("a"));
  claims.forget("a");
  CHECK_FALSE(claims.next(start + 1h, Term{1}));
  for (std::size_t at = 0; at < bounds::claims_max; ++at) {
    REQUIRE(claims.has_room(std::to_string(at)));
    claims.hold(std::to_string(at), Epoch{1}, 10s, start);
  }
  CHECK_FALSE(claims.has_room("one more"));
  CHECK(claims.has_room("5"));
}
