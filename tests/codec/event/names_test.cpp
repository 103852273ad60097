#include "codec/base/limits.hpp"
#include "codec/event/types.hpp"

#include <catch2/catch.hpp>

#include <functional>

using namespace runwire;

namespace {

using Check = std::function<Status(std::string_view)>;

void check_taken(const Check& check, std::string_view name) {
  INFO(name);
  CHECK(check(name));
}

void check_refused(const Check& check, std::string_view name, ErrorCode code) {
  INFO("[" << name << "]");
  const Status status = check(name);
  REQUIRE_FALSE(status);
  CHECK(status.error().code == code);
}

}  // namespace

TEST_CASE("names: a type is dotted lower case with a letter first", "[event]") {
  for (const char* type :
       {"a", "run.started", "tool.input.delta", "acme_9.x_.7", "a.0", "z__", "a._"}) {
    check_taken(check_type, type);
  }
  for (const char* type : {"",
                           ".",
                           "a.",
                           ".a",
                           "a..b",
                           "A",
                           "aB",
                           "9a",
                           "_a",
                           "a-b",
                           "a b",
                           "a\n",
                           "a/b",
                           "\xc3\xa9"}) {
    check_refused(check_type, type, ErrorCode::invalid);
  }
  check_refused(check_type, std::string_view("a\0b", 3), ErrorCode::invalid);
}

TEST_CASE("names: a subject and an observer are unreserved characters only", "[event]") {
  for (const Check& check : {Check(check_subject), Check(check_observer_name)}) {
    for (const char* name :
         {"a", "A", "0", ".", "_", "~", "-", "-run..~x_", "_runwire", "0190163d-8694-739b"}) {
      check_taken(check, name);
    }
    for (const char* name :
         {"", "a b", "a/b", "*", "!", "a\n", "a%20", "\xc3\xa9", "a:b", "\x7f"}) {
      check_refused(check, name, ErrorCode::invalid);
    }
    check_refused(check, std::string_view("a\0b", 3), ErrorCode::invalid);
  }
}

TEST_CASE("names: every byte is judged, and judged the same in every place", "[event]") {
  constexpr std::string_view allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-";
  for (int byte = 0; byte < 256; ++byte) {
    const char character = static_cast<char>(byte);
    const bool fits = allowed.find(character) != std::string_view::npos;
    for (const std::string& name : {std::string(1, character),
                                    std::string("a") + character,
                                    std::string("a") + character + "a"}) {
      INFO("byte " << byte);
      CHECK(check_subject(name).has_value() == fits);
      CHECK(check_observer_name(name).has_value() == fits);
    }
  }
}

TEST_CASE("names: the bounds hold on both sides and the refusal names them", "[event]") {
  const std::pair<Check, std::size_t> rules[] = {
      {check_type, limits::type_bytes_max},
      {check_subject, limits::subject_bytes_max},
      {check_observer_name, limits::observer_name_bytes_max}};
  for (const auto& [check, bytes_max] : rules) {
    check_taken(check, std::string(bytes_max, 'a'));
    check_refused(check, std::string(bytes_max + 1, 'a'), ErrorCode::too_large);
    const Status status = check(std::string(bytes_max + 1, 'a'));
    CHECK(status.error().number("limit") == bytes_max);
    CHECK(status.error().number("bytes") == bytes_max + 1);
  }
}

TEST_CASE("names: a refusal never quotes the name, which may be anything", "[event]") {
  CHECK(check_subject("\xff\xfe").error().message.find('\xff') == std::string::npos);
  CHECK(check_type("\x1b[31m").error().message.find('\x1b') == std::string::npos);
}
