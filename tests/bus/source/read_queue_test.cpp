#include "bus/source/read_queue.hpp"

#include <catch2/catch.hpp>

using namespace runwire;
using namespace runwire::bus;

namespace {

InstanceId client(int number) {
  InstanceId id;
  id.bytes.back() = static_cast<std::byte>(number);
  return id;
}

PendingRead read_of(int number, std::uint64_t rid = 1) {
  return {.origin = {.routing = "r", .client = client(number), .rid = rid, .op = "read"}};
}

Status add(ReadQueue& queue, int number, std::uint64_t rid = 1) {
  PendingRead pending = read_of(number, rid);
  return queue.add(pending);
}

}  // namespace

TEST_CASE("C07 Reads: clients take turns, so that one that replays all holds nobody up",
          "[source]") {
  ReadQueue queue;
  for (std::uint64_t rid = 1; rid <= 4; ++rid)
    REQUIRE(add(queue, 1, rid));
  REQUIRE(add(queue, 2));
  CHECK(queue.take()->origin.client == client(1));
  CHECK(queue.take()->origin.client == client(2));
  CHECK(queue.take()->origin.rid == 2);
}

TEST_CASE("Reads: a client has its bound of reads and not one more, waiting ones included",
          "[source][bound]") {
  ReadQueue queue;
  for (std::size_t rid = 1; rid <= limits::pages_outstanding_max; ++rid)
    REQUIRE(add(queue, 1, rid));
  const Status refused = add(queue, 1, 99);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::backpressure);
  CHECK(add(queue, 2));  // nobody else pays for it
  REQUIRE(queue.take());
  CHECK_FALSE(add(queue, 1, 99));  // taken, not answered
  queue.answered(client(1));
  CHECK(add(queue, 1, 99));
}

TEST_CASE("C06 Reads: a client that does not take its replies is passed over until it does",
          "[source][bound]") {
  ReadQueue queue;
  REQUIRE(add(queue, 1));
  REQUIRE(add(queue, 2));
  const HeldBytes held = queue.held(client(1));
  *held = limits::reply_bytes_outstanding_max;
  CHECK(queue.take()->origin.client == client(2));
  CHECK_FALSE(queue.take());
  CHECK_FALSE(queue.empty());
  *held = limits::reply_bytes_outstanding_max - 1;
  CHECK(queue.take()->origin.client == client(1));
}

TEST_CASE("Reads: what is outstanding together fits the bound of bytes", "[source][bound]") {
  ReadQueue queue;
  REQUIRE(add(queue, 1));
  CHECK(queue.page_bytes_max(client(1)) == limits::page_bytes_max);
  for (std::size_t rid = 2; rid <= limits::pages_outstanding_max; ++rid)
    REQUIRE(add(queue, 1, rid));
  CHECK(queue.page_bytes_max(client(1)) * limits::pages_outstanding_max <=
        limits::reply_bytes_outstanding_max);
}

TEST_CASE("Reads: a client without anything outstanding is forgotten", "[source]") {
  ReadQueue queue;
  REQUIRE(add(queue, 1));
  REQUIRE(queue.take());
  queue.sweep();
  CHECK(queue.clients() == 1);
  queue.answered(client(1));
  queue.sweep();
  CHECK(queue.clients() == 0);
}
