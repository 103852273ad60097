#include "bus/source/live_inbox.hpp"

#include <catch2/catch.hpp>

using namespace runwire;
using namespace runwire::bus;

namespace {

LiveBatch batch_of(std::size_t bytes) {
  return {.events = Bytes(bytes)};
}

}  // namespace

TEST_CASE("Live inbox: its bound of bytes is taken, not one more, and comes back when sent",
          "[source][bound]") {
  LiveInbox inbox(100, 1000);
  CHECK(inbox.offer(batch_of(600)));
  CHECK(inbox.offer(batch_of(400)));
  CHECK_FALSE(inbox.offer(batch_of(1)));
  std::vector<LiveBatch> out;
  REQUIRE(inbox.drain(out) == 2);
  CHECK_FALSE(inbox.offer(batch_of(1)));  // drained, not sent
  inbox.sent(LiveInbox::size_of(out[0]));
  CHECK(inbox.offer(batch_of(600)));
}

TEST_CASE("Live inbox: its bound of batches is taken and not one more", "[source][bound]") {
  LiveInbox inbox(2, 1000);
  CHECK(inbox.offer(batch_of(1)));
  CHECK(inbox.offer(batch_of(1)));
  CHECK_FALSE(inbox.offer(batch_of(1)));
  std::vector<LiveBatch> out;
  REQUIRE(inbox.drain(out) == 2);
  CHECK(inbox.offer(batch_of(1)));
}
