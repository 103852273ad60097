#include "codec/json/number.hpp"

#include "codec/json/canonical.hpp"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <utility>

using namespace runwire;

namespace {

std::string printed(double number) {
  std::string out;
  json::append_number(out, number);
  return out;
}

std::string canonical(std::string_view text) {
  const auto found = json::canonicalise(text);
  return found ? *found : "refused: " + describe(found.error());
}

}  // namespace

TEST_CASE("numbers: the samples of RFC 8785, Appendix B", "[json]") {
  const std::pair<std::uint64_t, const char*> samples[] = {
      {0x0000000000000000, "0"},
      {0x8000000000000000, "0"},
      {0x0000000000000001, "5e-324"},
      {0x8000000000000001, "-5e-324"},
      {0x7fefffffffffffff, "1.7976931348623157e+308"},
      {0xffefffffffffffff, "-1.7976931348623157e+308"},
      {0x4340000000000000, "9007199254740992"},
      {0xc340000000000000, "-9007199254740992"},
      {0x4430000000000000, "295147905179352830000"},
      {0x44b52d02c7e14af5, "9.999999999999997e+22"},
      {0x44b52d02c7e14af6, "1e+23"},
      {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
      {0x444b1ae4d6e2ef4e, "999999999999999700000"},
      {0x444b1ae4d6e2ef4f, "999999999999999900000"},
      {0x444b1ae4d6e2ef50, "1e+21"},
      {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
      {0x3eb0c6f7a0b5ed8d, "0.000001"},
      {0x41b3de4355555553, "333333333.3333332"},
      {0x41b3de4355555554, "333333333.33333325"},
      {0x41b3de4355555555, "333333333.3333333"},
      {0x41b3de4355555556, "333333333.3333334"},
      {0x41b3de4355555557, "333333333.33333343"},
      {0xbecbf647612f3696, "-0.0000033333333333333333"},
      {0x43143ff3c1cb0959, "1424953923781206.2"},
  };
  for (const auto& [bits, text] : samples) {
    const auto number = std::bit_cast<double>(bits);
    INFO(text);
    CHECK(printed(number) == text);
    if (json::exact_in_canonical_form(number)) {
      CHECK(canonical(text) == text);
    } else {
      CHECK_FALSE(json::canonicalise(text));
    }
  }
}

TEST_CASE("numbers: neither infinity nor NaN has a form", "[json]") {
  CHECK_FALSE(json::exact_in_canonical_form(std::bit_cast<double>(0x7fffffffffffffffULL)));
  CHECK_FALSE(json::exact_in_canonical_form(std::bit_cast<double>(0x7ff0000000000000ULL)));
  CHECK_FALSE(json::exact_in_canonical_form(std::bit_cast<double>(0xfff0000000000000ULL)));
  for (const char* text :
       {"NaN", "nan", "Infinity", "-Infinity", "inf", "1e309", "-1e309", "1e999999999999"}) {
    INFO(text);
    const auto found = json::canonicalise(text);
    REQUIRE_FALSE(found);
    CHECK(found.error().code == ErrorCode::invalid);
  }
}

TEST_CASE("numbers: every spelling of a value has one canonical form", "[json]") {
  const std::pair<const char*, const char*> spellings[] = {
      {"-0", "0"},
      {"0.0", "0"},
      {"-0.0e5", "0"},
      {"1.0", "1"},
      {"1e2", "100"},
      {"1E2", "100"},
      {"1e+2", "100"},
      {"100e-2", "1"},
      {"0.10", "0.1"},
      {"4.50", "4.5"},
      {"2e-3", "0.002"},
      {"1E30", "1e+30"},
      {"1e-400", "0"},
      {"1e-7", "1e-7"},
      {"0.0000001", "1e-7"},
      {"333333333.33333329", "333333333.3333333"},
      {"0.000000000000000000000000001", "1e-27"},
      {"123456789012345", "123456789012345"},
      {"-123456789012345", "-123456789012345"},
  };
  for (const auto& [spelling, form] : spellings) {
    INFO(spelling);
    CHECK(canonical(spelling) == form);
    CHECK(json::is_canonical_number(form));
    CHECK(json::is_canonical_number(spelling) == (std::string_view(spelling) == form));
  }
}

TEST_CASE("numbers: digits beyond 2^53-1 are refused, with an exponent they are not", "[json]") {
  for (const char* text : {"9007199254740991",
                           "-9007199254740991",
                           "1e+21",
                           "1e+30",
                           "-1e+30",
                           "9007199254740991.0"}) {
    INFO(text);
    CHECK(json::canonicalise(text));
  }
  for (const char* text : {"9007199254740992",
                           "-9007199254740992",
                           "9007199254740993",
                           "18446744073709551616",
                           "1e20",
                           "9007199254740991.5",
                           "123456789012345678901",
                           "-100000000000000000000"}) {
    INFO(text);
    const auto found = json::canonicalise(std::string("[1,") + text + "]");
    REQUIRE_FALSE(found);
    CHECK(found.error().code == ErrorCode::invalid);
    CHECK(found.error().number("offset") == 3U);
  }
}

TEST_CASE("numbers: what RFC 8259 does not call a number is refused", "[json]") {
  for (const char* text :
       {"",    "-",   "+1",    "01",    "-01", "1.", ".5", "1e",  "1e+", "0x1",
        "1_0", "--1", "1.2.3", "1e5e5", "00",  "1-", "0e", "-.5", "1 2", "\xd9\xa1"}) {
    INFO("[" << text << "]");
    CHECK_FALSE(json::parse_number(text));
    CHECK_FALSE(json::is_canonical_number(text));
    CHECK_FALSE(json::canonicalise(text));
  }
}

TEST_CASE("numbers: any double that is exact goes through its form and back", "[json]") {
  const auto seed = Catch::rngSeed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20'000; ++round) {
    const auto number = std::bit_cast<double>(random());
    if (!std::isfinite(number)) continue;
    const std::string form = printed(number);
    const auto back = json::parse_number(form);
    REQUIRE(back);
    CHECK(*back == number);
    CHECK(json::is_canonical_number(form) == json::exact_in_canonical_form(number));
  }
}

TEST_CASE("numbers: any decimal of few digits is judged by the form that it parses to", "[json]") {
  const auto seed = Catch::rngSeed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  constexpr std::string_view digits = "0001234567890";
  for (int round = 0; round < 50'000; ++round) {
    std::string text = random() % 4 == 0 ? "-" : "";
    for (auto left = random() % 9; left > 0; --left)
      text += digits[random() % digits.size()];
    if (random() % 4 != 0) text += '.';
    for (auto left = random() % 10; left > 0; --left)
      text += digits[random() % digits.size()];
    INFO(text);
    const auto number = json::parse_number(text);
    const bool form = number && json::exact_in_canonical_form(*number) && printed(*number) == text;
    CHECK(json::is_canonical_number(text) == form);
  }
}
