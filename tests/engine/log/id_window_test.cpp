#include "engine/log/id_window.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <map>
#include <random>

using namespace runwire;

namespace {

EventId id_of(std::uint64_t number) {
  EventId id{};
  for (std::size_t at = 0; at < 8; ++at)
    id.bytes.at(at) = static_cast<std::byte>(number >> (8 * at));
  return id;
}

}  // namespace

TEST_CASE("IdWindow: remembers exactly the newest ids", "[engine][log][bound]") {
  constexpr std::uint64_t bound = 1000;
  IdWindow window(bound);
  for (std::uint64_t position = 1; position <= 5000; ++position) {
    window.add(id_of(position), {position});
    CHECK(window.find(id_of(position)) == Position{position});
    if (position > bound) CHECK_FALSE(window.find(id_of(position - bound)).has_value());
  }
  CHECK(window.size() == bound);
  for (std::uint64_t position = 4001; position <= 5000; ++position) {
    CHECK(window.find(id_of(position)) == Position{position});
  }
}

TEST_CASE("IdWindow: may begin anywhere in a log", "[engine][log]") {
  IdWindow window(64);
  for (std::uint64_t position = 1'000'037; position < 1'000'337; ++position) {
    window.add(id_of(position), {position});
  }
  CHECK(window.size() == 64);
  CHECK(window.find(id_of(1'000'336)) == Position{1'000'336});
  CHECK(window.find(id_of(1'000'273)) == Position{1'000'273});
  CHECK_FALSE(window.find(id_of(1'000'272)).has_value());
}

TEST_CASE("IdWindow: what is taken back is free again", "[engine][log]") {
  IdWindow window(100);
  for (std::uint64_t position = 1; position <= 50; ++position)
    window.add(id_of(position), {position});
  window.forget_after({40}, {50});
  CHECK(window.size() == 40);
  CHECK(window.find(id_of(40)) == Position{40});
  CHECK_FALSE(window.find(id_of(41)).has_value());
  window.add(id_of(999), {41});
  CHECK(window.find(id_of(999)) == Position{41});
}

TEST_CASE("IdWindow: agrees with a plain map under random use", "[engine][log][property]") {
  const std::uint64_t seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  constexpr std::uint64_t bound = 257;
  IdWindow window(bound);
  std::map<std::uint64_t, std::uint64_t> model;
  std::uint64_t position = random() % 100'000;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t number = random();
    window.add(id_of(number), {++position});
    model[position] = number;
    if (model.size() > bound) model.erase(model.begin());
    const auto probe =
        std::next(model.begin(), static_cast<std::ptrdiff_t>(random() % model.size()));
    REQUIRE(window.find(id_of(probe->second)) == Position{probe->first});
  }
}
