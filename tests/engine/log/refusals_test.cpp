#include "engine/log/refusals.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace runwire;

TEST_CASE("Refusals: one for each client and subject, until it goes on", "[engine][log]") {
  Refusals refusals;
  const InstanceId first{{std::byte{1}}};
  const InstanceId second{{std::byte{2}}};
  const EventId id{{std::byte{9}}};
  refusals.remember(first, "run", id);
  CHECK(refusals.find(first, "run") == id);
  CHECK_FALSE(refusals.find(second, "run").has_value());
  CHECK_FALSE(refusals.find(first, "other").has_value());
  refusals.forget(first, "run");
  CHECK(refusals.empty());
}

TEST_CASE("Refusals: the oldest is forgotten over the bound", "[engine][log][bound]") {
  Refusals refusals;
  const InstanceId client{{std::byte{1}}};
  for (std::size_t at = 0; at <= Refusals::refusals_max; ++at) {
    refusals.remember(client, "run-" + std::to_string(at), {});
  }
  CHECK(refusals.size() == Refusals::refusals_max);
  CHECK_FALSE(refusals.find(client, "run-0").has_value());
  CHECK(refusals.find(client, "run-1").has_value());
}
