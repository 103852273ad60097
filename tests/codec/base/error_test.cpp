#include "codec/base/error.hpp"

#include "codec/base/result.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace runwire;

namespace {

constexpr std::uint16_t codes_count = 25;

}  // namespace

TEST_CASE("error: every code has one name, and the name leads back to it", "[error]") {
  std::set<std::string_view> names;
  for (std::uint16_t number = 1; number <= codes_count; ++number) {
    const auto code = static_cast<ErrorCode>(number);
    const std::string_view name = to_string(code);
    CHECK(names.insert(name).second);
    REQUIRE(error_code_from(name));
    CHECK(*error_code_from(name) == code);
  }
  CHECK(names.size() == codes_count);
}

TEST_CASE("error: a name that nobody gave is no code, and a number without a name is internal",
          "[error]") {
  for (const char* name : {"", "Invalid", "invalid ", "too-large", "unknown"}) {
    CHECK_FALSE(error_code_from(name));
  }
  CHECK(to_string(static_cast<ErrorCode>(codes_count + 1)) == "internal");
  CHECK(to_string(static_cast<ErrorCode>(0)) == "internal");
}

TEST_CASE("error: facts are found by name and by kind", "[error]") {
  const Error error = Error{ErrorCode::cursor_expired, "too old", {}}
                          .with("requested", std::uint64_t{3})
                          .with("recovery", "9");
  CHECK(error.number("requested") == 3U);
  CHECK(error.text("recovery") == "9");
  CHECK_FALSE(error.text("requested"));
  CHECK_FALSE(error.number("recovery"));
  CHECK_FALSE(error.number("latest"));
  CHECK_FALSE(error.text("latest"));
}

TEST_CASE("error: a description is the code, the sentence and the facts in their order",
          "[error]") {
  CHECK(describe(Error{ErrorCode::closed, "shutting down", {}}) == "closed: shutting down");
  CHECK(describe(Error{ErrorCode::conflict, "the id was used before", {}}
                     .with("seq", std::uint64_t{4})
                     .with("subject", "r")) ==
        "conflict: the id was used before (seq 4, subject r)");
}

TEST_CASE("error: a failed result carries the error and nothing else", "[error]") {
  const Status status = fail(ErrorCode::too_large, "event: over 1 MiB");
  REQUIRE_FALSE(status);
  CHECK(status.error() == Error{ErrorCode::too_large, "event: over 1 MiB", {}});
  CHECK_FALSE(status.error() == Error{ErrorCode::invalid, "event: over 1 MiB", {}});
}
