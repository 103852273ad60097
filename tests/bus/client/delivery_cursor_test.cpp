#include "bus/client/delivery_cursor.hpp"

#include <catch2/catch.hpp>

using namespace runwire;
using client::DeliveryCursor;

TEST_CASE("DeliveryCursor: what comes is handed out, acked once it is told, and said once",
          "[client]") {
  DeliveryCursor cursor({});
  cursor.attached(Position{10});
  CHECK(cursor.acked() == Position{10});
  CHECK(cursor.came(Position{11}, Position{13}) == 0U);
  CHECK_FALSE(cursor.ack_due());
  CHECK_FALSE(cursor.ack(Position{14}));
  CHECK(cursor.ack(Position{12}));
  CHECK(cursor.ack_due() == Position{12});
  cursor.ack_sent(Position{12});
  CHECK_FALSE(cursor.ack_due());
  CHECK(cursor.ack(Position{11}));
  CHECK(cursor.acked() == Position{12});
}

TEST_CASE("DeliveryCursor: a repeat is dropped as far as it is acked, and its ack said again",
          "[client]") {
  DeliveryCursor cursor({});
  cursor.attached(Position{0});
  REQUIRE(cursor.came(Position{1}, Position{4}));
  REQUIRE(cursor.ack(Position{2}));
  cursor.ack_sent(Position{2});
  CHECK(cursor.came(Position{1}, Position{4}) == 2U);
  CHECK(cursor.ack_due() == Position{2});
  REQUIRE(cursor.ack(Position{4}));
  CHECK_FALSE(cursor.came(Position{1}, Position{4}));
  CHECK(cursor.repeats() == 6);
}

TEST_CASE("DeliveryCursor: what is behind a refused event waits for it", "[client]") {
  DeliveryCursor cursor({});
  cursor.attached(Position{0});
  REQUIRE(cursor.came(Position{1}, Position{3}));
  CHECK_FALSE(cursor.refuse(Position{4}));
  REQUIRE(cursor.refuse(Position{2}));
  CHECK(cursor.acked() == Position{1});
  CHECK_FALSE(cursor.came(Position{4}, Position{6}));
  CHECK(cursor.came(Position{2}, Position{6}) == 0U);
  CHECK_FALSE(cursor.refuse(Position{1}));
}

TEST_CASE("DeliveryCursor: what is not owed is no hole", "[client]") {
  DeliveryCursor cursor({});
  cursor.attached(Position{0});
  REQUIRE(cursor.came(Position{1}, Position{3}));
  REQUIRE(cursor.refuse(Position{2}));
  CHECK_FALSE(cursor.came(Position{2}, Position{3}, Position{4}));  // Still owed position 2.
  CHECK(cursor.came(Position{1}, Position{3}, Position{4}) == 0U);
  REQUIRE(cursor.ack(Position{3}));
  CHECK(cursor.came(Position{1}, Position{3}, Position{4}) == 1U);
}

TEST_CASE("DeliveryCursor: a consumer that knows more acks it as it comes", "[client]") {
  DeliveryCursor cursor(Position{5});
  cursor.attached(Position{2});
  CHECK_FALSE(cursor.is_behind());
  CHECK_FALSE(cursor.ack_due());
  CHECK_FALSE(cursor.came(Position{3}, Position{4}));
  CHECK(cursor.ack_due() == Position{4});
  CHECK(cursor.came(Position{5}, Position{7}) == 1U);
  CHECK(cursor.ack_due() == Position{5});
}

TEST_CASE("DeliveryCursor: one that knows less reads what it lacks first", "[client]") {
  DeliveryCursor cursor(Position{1});
  cursor.attached(Position{3});
  CHECK(cursor.is_behind());
  CHECK(cursor.came(Position{2}, Position{3}) == 0U);
  CHECK_FALSE(cursor.is_behind());
  REQUIRE(cursor.ack(Position{3}));
  CHECK_FALSE(cursor.ack_due());
  CHECK(cursor.came(Position{4}, Position{4}) == 0U);
}

TEST_CASE("DeliveryCursor: after another attach what was not acked comes again", "[client]") {
  DeliveryCursor cursor({});
  cursor.attached(Position{0});
  REQUIRE(cursor.came(Position{1}, Position{9}));
  REQUIRE(cursor.ack(Position{4}));
  cursor.attached(Position{2});
  CHECK(cursor.came(Position{3}, Position{9}) == 2U);
}
