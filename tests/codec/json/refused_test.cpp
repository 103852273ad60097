#include "codec/base/limits.hpp"
#include "codec/json/canonical.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace runwire;

namespace {

void check_refused_at(const std::string& text, std::uint64_t offset, std::string_view why) {
  INFO("[" << text << "]");
  const auto found = json::canonicalise(text);
  REQUIRE_FALSE(found);
  CHECK(found.error().code == ErrorCode::invalid);
  CHECK(found.error().number("offset") == offset);
  CHECK(found.error().message.find(why) != std::string::npos);
}

/// Refused, and the offset lies in the text or just behind it.
void check_refused(const std::string& text) {
  INFO("[" << text << "]");
  const auto found = json::canonicalise(text);
  REQUIRE_FALSE(found);
  CHECK(found.error().code == ErrorCode::invalid);
  REQUIRE(found.error().number("offset"));
  CHECK(*found.error().number("offset") <= text.size());
}

}  // namespace

TEST_CASE("refused JSON: C26 a lone surrogate is refused where it stands", "[json]") {
  check_refused_at(R"("\ud800")", 1, "surrogate");
  check_refused_at(R"("ab\udc00")", 3, "surrogate");
  check_refused_at(R"("\udc00\ud800")", 1, "surrogate");
  check_refused_at(R"("\ud800\ud800")", 1, "surrogate");
  check_refused_at(R"("\ud800\u0041")", 1, "surrogate");
  check_refused_at(R"("\ud800x")", 1, "surrogate");
  check_refused_at(R"({"a":1,"\uDFFF":2})", 8, "surrogate");
  check_refused_at(R"("\ud83d\ude00\ud83d")", 13, "surrogate");
  check_refused_at(R"("\ud83d\\ude00")", 1, "surrogate");
}

TEST_CASE("refused JSON: C26 bytes that are not UTF-8 are refused where they begin", "[json]") {
  const std::pair<std::string, std::uint64_t> bad[] = {
      {"\"\xff\"", 1},
      {"\"a\xc3\"", 2},
      {"\"\xc0\x80\"", 1},
      {"\"\xed\xa0\x80\"", 1},
      {"\"\xf4\x90\x80\x80\"", 1},
      {"\"\xe2\x82\"", 1},
      {"\"\xc3\xa9\x80\"", 3},
      {"\"\xf8\x88\x80\x80\x80\"", 1},
      {"[1,\"\xf0\x9f\x98\"]", 4},
      {"\x80", 0},
      {"\"\xe0\x80\xaf\"", 1},
      {"\"ok\",\xc3", 5},
  };
  for (const auto& [text, offset] : bad)
    check_refused_at(text, offset, "UTF-8");
  CHECK_FALSE(json::valid_utf8("\xed\xb0\x80"));
  CHECK_FALSE(json::valid_utf8("abc\xc3"));
  CHECK(json::valid_utf8(""));
  CHECK(json::valid_utf8({}));
  CHECK(json::valid_utf8("\xf4\x8f\xbf\xbf\xee\x80\x80\xed\x9f\xbf"));
}

TEST_CASE("refused JSON: a key that comes twice is refused, however it is written", "[json]") {
  check_refused_at(R"({"a":1,"a":1})", 0, "twice");
  check_refused_at(R"({"a":1,"b":2,"a":3})", 0, "twice");
  check_refused_at(R"({"a":1,"\u0061":2})", 0, "twice");
  check_refused_at(R"([1,{"x":{"":0,"":0}}])", 8, "twice");
  CHECK(json::canonicalise(R"({"a":{"a":1},"b":{"a":1}})"));
}

TEST_CASE("refused JSON: C27 bytes behind the value are refused", "[json]") {
  for (const char* text : {"1 2",
                           "{} {}",
                           "[]]",
                           "[] ]",
                           "null,",
                           "1,2",
                           "{}}",
                           "\"a\" \"b\"",
                           "1],[2",
                           "true false",
                           "{}\n{}",
                           "[1][2]",
                           "1 //x",
                           "{} x",
                           "]",
                           "],[",
                           "1]"}) {
    check_refused(text);
  }
  check_refused(std::string("1\0", 2));
  check_refused(std::string("{}\0{}", 5));
  check_refused_at("[1] 2", 4, "");
}

TEST_CASE("refused JSON: strings are refused where they go wrong", "[json]") {
  check_refused_at("\"a\nb\"", 2, "control");
  check_refused_at(std::string("\"\0\"", 3), 1, "control");
  check_refused_at(R"("\x41")", 1, "escape");
  check_refused_at(R"("a\'")", 2, "escape");
  check_refused_at(R"("\u12")", 1, "hexadecimal");
  check_refused_at(R"("\u12g4")", 1, "hexadecimal");
  check_refused_at(R"("\u+123")", 1, "hexadecimal");
  check_refused_at(R"("\u-123")", 1, "hexadecimal");
  check_refused_at(R"(["ab)", 1, "end");
  check_refused_at(R"("ab\)", 3, "escape");
  check_refused_at(R"("ab\")", 0, "end");
}

TEST_CASE("refused JSON: what RFC 8259 does not have is refused", "[json]") {
  for (const char* text : {"",
                           " ",
                           "[",
                           "]",
                           "{",
                           "}",
                           "[1,]",
                           "[,1]",
                           "[1 2]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{,}",
                           "{a:1}",
                           "{1:2}",
                           "{\"a\" 1}",
                           "{\"a\":1 \"b\":2}",
                           "'a'",
                           "tru",
                           "True",
                           "nul",
                           "nulll",
                           "undefined",
                           "// x\n1",
                           "/* x */1",
                           "[1;2]",
                           "(1)",
                           "\xef\xbb\xbf{}",
                           "[\f1]",
                           "{\"a\":1]",
                           "[1}",
                           ":",
                           ",",
                           "\\",
                           "truefalse",
                           "[true,fals]",
                           "{\"a\"::1}",
                           "[\"a\"b]",
                           "[1\"a\"]",
                           "{null:1}",
                           "[-]",
                           "\v1"}) {
    check_refused(text);
  }
}

TEST_CASE("refused JSON: every prefix of a text is refused or is a text of its own", "[json]") {
  const std::string text = R"({"a":[1,2.5e3,"x\u00e9\n"],"b":{"c":null,"d":[true,false,{}]}})";
  for (std::size_t size = 0; size < text.size(); ++size)
    check_refused(text.substr(0, size));
  CHECK(json::canonicalise(text));
}

TEST_CASE("refused JSON: a refusal changes nothing for the next text", "[json]") {
  for (const char* bad : {"[", "\"\\ud800\"", R"({"a":1,"a":2})", "1 2", "\xff", "1e999"}) {
    CHECK_FALSE(json::canonicalise(bad));
    const auto good = json::canonicalise(R"( {"b":1,"a":2} )");
    REQUIRE(good);
    CHECK(*good == R"({"a":2,"b":1})");
  }
}
