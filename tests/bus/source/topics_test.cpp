#include "bus/source/topics.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace runwire;
using namespace runwire::bus;

TEST_CASE("Topics: a name says what it is, and everything that is none of ours is nothing",
          "[source]") {
  CHECK(kind_of_topic("run-1/") == Topic::Kind::subject);
  CHECK(kind_of_topic("/") == Topic::Kind::nameless);
  CHECK(kind_of_topic("*/") == Topic::Kind::log);
  CHECK(kind_of_topic("!/") == Topic::Kind::heartbeat);
  for (const char* name : {"", "run-1", "run 1/", "a/b/", "**/", "\xff/"}) {
    INFO(name);
    CHECK_FALSE(kind_of_topic(name));
  }
  CHECK(kind_of_topic(std::string(limits::subject_bytes_max, 'x') + "/"));
  CHECK_FALSE(kind_of_topic(std::string(limits::subject_bytes_max + 1, 'x') + "/"));
}

TEST_CASE("Topics: the table takes its bound and not one more, and room comes back",
          "[source][bound]") {
  TopicTable table(2);
  REQUIRE(table.add("a/"));
  REQUIRE(table.add("b/"));
  CHECK(table.add("c/") == nullptr);
  CHECK(table.add("a/") == table.find("a"));  // known: not another one
  REQUIRE(table.add("*/"));                   // the log is never refused
  CHECK(table.log() != nullptr);
  REQUIRE(table.remove("a/"));
  CHECK(table.find("a") == nullptr);
  CHECK(table.add("c/") != nullptr);
  CHECK(table.remove("a/") == nullptr);
}

TEST_CASE("Topics: a topic that is subscribed anew is another one, with a counter from 0",
          "[source]") {
  TopicTable table;
  Topic* first = table.add("a/");
  first->counter = 7;
  const std::uint64_t number = first->number;
  REQUIRE(table.remove("a/"));
  Topic* again = table.add("a/");
  CHECK(again->counter == 0);
  CHECK(again->number != number);
}
