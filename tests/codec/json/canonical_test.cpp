#include "codec/json/canonical.hpp"

#include "codec/base/limits.hpp"
#include "codec/json/rebuild.hpp"
#include "codec/json/recogniser.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <utility>

using namespace runwire;

namespace {

std::string canonical(std::string_view text) {
  const auto found = json::canonicalise(text);
  return found ? *found : "refused: " + describe(found.error());
}

std::string nested(std::size_t depth,
                   std::string_view open,
                   std::string_view close,
                   std::string_view core) {
  std::string text;
  for (std::size_t level = 0; level < depth; ++level)
    text += open;
  text += core;
  for (std::size_t level = 0; level < depth; ++level)
    text += close;
  return text;
}

}  // namespace

TEST_CASE("canonical JSON: the sample of RFC 8785, 3.2.2", "[json]") {
  const std::string_view text = R"({
  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
})";
  CHECK(canonical(text) ==
        R"({"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],)"
        "\"string\":\"\xe2\x82\xac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
}

TEST_CASE("canonical JSON: keys stand in the order of UTF-16 code units (RFC 8785, 3.2.3)",
          "[json]") {
  const std::string_view text = R"({
  "\u20ac": "Euro Sign",
  "\r": "Carriage Return",
  "\ufb33": "Hebrew Letter Dalet With Dagesh",
  "1": "One",
  "\ud83d\ude00": "Emoji: Grinning Face",
  "\u0080": "Control",
  "\u00f6": "Latin Small Letter O With Diaeresis"
})";
  CHECK(canonical(text) ==
        "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\xc2\x80\":\"Control\","
        "\"\xc3\xb6\":\"Latin Small Letter O With Diaeresis\",\"\xe2\x82\xac\":\"Euro Sign\","
        "\"\xf0\x9f\x98\x80\":\"Emoji: Grinning Face\",\"\xef\xac\xb3\":\"Hebrew Letter Dalet With "
        "Dagesh\"}");
}

TEST_CASE("canonical JSON: order by code unit differs from order by byte where it has to",
          "[json]") {
  // U+E000 and U+FFFF are behind every surrogate pair, U+D7FF before; bytes alone would say
  // otherwise.
  CHECK(canonical(
            "{\"\xee\x80\x80\":1,\"\xf0\x90\x80\x80\":2,\"\xed\x9f\xbf\":3,\"\xef\xbf\xbf\":4}") ==
        "{\"\xed\x9f\xbf\":3,\"\xf0\x90\x80\x80\":2,\"\xee\x80\x80\":1,\"\xef\xbf\xbf\":4}");
  CHECK(canonical(R"({"ab":1,"a":2,"":3,"B":4})") == R"({"":3,"B":4,"a":2,"ab":1})");
  CHECK(canonical(R"({"10":1,"9":2,"a":{"z":1,"y":{"b":1,"a":2}}})") ==
        R"({"10":1,"9":2,"a":{"y":{"a":2,"b":1},"z":1}})");
}

TEST_CASE("canonical JSON: strings have one spelling", "[json]") {
  const std::pair<const char*, const char*> spellings[] = {
      {R"("\/")", R"("/")"},
      {R"("\u0041")", R"("A")"},
      {R"("\u000A\u0009\u0008\u000c\u000d")", R"("\n\t\b\f\r")"},
      {R"("\u001F\u0000")", R"("\u001f\u0000")"},
      {R"("\u007f")", "\"\x7f\""},
      {R"("\uD83D\uDE00")", "\"\xf0\x9f\x98\x80\""},
      {R"("\u2028")", "\"\xe2\x80\xa8\""},
      {R"("<\u0026>")", R"("<&>")"},
  };
  for (const auto& [spelling, form] : spellings) {
    INFO(spelling);
    CHECK(canonical(spelling) == form);
    CHECK(canonical(form) == form);
  }
  CHECK(json::quote("a\"\\\b\f\n\r\t\x01\x1f\x7f/") ==
        "\"a\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\x7f/\"");
  CHECK(json::quote("") == "\"\"");
  CHECK(json::quote(std::string_view("\0", 1)) == "\"\\u0000\"");
}

TEST_CASE("canonical JSON: white space of any kind goes, and any value stands alone", "[json]") {
  CHECK(canonical(" \t\r\n[ 1 ,\n{ \"b\" : null , \"a\" : [ ] } ]\r ") ==
        R"([1,{"a":[],"b":null}])");
  for (const char* value : {"null", "true", "false", "0", "\"\"", "[]", "{}", "-1.5"}) {
    CHECK(canonical(std::string(" ") + value + " ") == value);
    CHECK(canonical(value) == value);
  }
}

TEST_CASE("canonical JSON: a canonical text is recognised without being built anew", "[json]") {
  for (const char* text : {"null",
                           "[]",
                           "{}",
                           "\"\\u001f\\n\"",
                           "[1,2.5,1e+30,-7]",
                           R"({"a":{"b":[true,false]},"b":""})",
                           "{\"\xf0\x9f\x98\x80\":1,\"\xef\xac\xb3\":2}",
                           R"(["12345678","1234567\n"])"}) {
    INFO(text);
    CHECK(json::seen_to_be_canonical(text));
    const auto built = json::rebuild(text);
    REQUIRE(built);
    CHECK(*built == text);
    const auto judged = json::is_canonical(text);
    REQUIRE(judged);
    CHECK(*judged);
  }
}

TEST_CASE("canonical JSON: what is not canonical is never seen to be", "[json]") {
  for (const char* text : {" 1",
                           "1 ",
                           "[1, 2]",
                           R"({"b":1,"a":2})",
                           R"("\/")",
                           R"("\u000a")",
                           R"("\u001F")",
                           R"("\u0041")",
                           "1.0",
                           "-0",
                           "1E5",
                           "100000000000000000000",
                           "[1,]",
                           "{\"a\":1,}",
                           "\"a",
                           "tru",
                           "nulll",
                           "",
                           R"({"a":1,"a":2})",
                           "\"\x01\"",
                           "\"\xff\"",
                           "[1]]",
                           R"({"\n":1})"}) {
    INFO(text);
    CHECK_FALSE(json::seen_to_be_canonical(text));
  }
  const auto judged = json::is_canonical(" 1");
  REQUIRE(judged);
  CHECK_FALSE(*judged);
  // A key with an escape is canonical, but only the slower way finds out.
  const auto escaped = json::is_canonical(R"({"\n":1})");
  REQUIRE(escaped);
  CHECK(*escaped);
}

TEST_CASE("canonical JSON: the depth has a bound, the same for both ways", "[json]") {
  for (const auto& [open, close] :
       {std::pair("[", "]"), std::pair("{\"a\":", "}"), std::pair("[ ", " ]")}) {
    const std::string fits = nested(limits::depth_max - 1, open, close, "[]");
    CHECK(json::canonicalise(fits));
    for (const std::size_t depth :
         {limits::depth_max, limits::depth_max + 1, std::size_t{100'000}}) {
      const auto deep = json::canonicalise(nested(depth, open, close, "[]"));
      REQUIRE_FALSE(deep);
      CHECK(deep.error().code == ErrorCode::too_large);
      CHECK(deep.error().number("limit") == limits::depth_max);
    }
  }
}

TEST_CASE("canonical JSON: the size has a bound, counted in canonical form", "[json]") {
  const std::string most = "\"" + std::string(limits::data_bytes_max - 2, 'x') + "\"";
  CHECK(canonical(most) == most);
  CHECK(canonical("  " + most + "  ") == most);
  for (const std::string& text :
       {"\"x" + most.substr(1), " \"x" + most.substr(1), "[" + most + "]"}) {
    const auto over = json::canonicalise(text);
    REQUIRE_FALSE(over);
    CHECK(over.error().code == ErrorCode::too_large);
    CHECK(over.error().number("limit") == limits::data_bytes_max);
  }
  // A control character of one byte is six in canonical form; here it is already.
  std::string grows = "\"";
  while (grows.size() < limits::data_bytes_max / 2)
    grows += "\\u0000";
  CHECK(json::canonicalise(grows + "\""));
  CHECK(json::canonicalise(std::string(limits::message_bytes_max + 1, ' ')).error().code ==
        ErrorCode::too_large);
  CHECK(canonical(std::string(limits::message_bytes_max - 1, ' ') + "1") == "1");
}
