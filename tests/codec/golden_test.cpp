#include "tests/golden/verdict.hpp"
#include "tests/support/source_directory.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <string>

using namespace runwire;

namespace {

/// Judges every line of a file; returns how many there were.
std::size_t judge_file(const std::string& name) {
  const auto path = test::source_directory() / "tests" / "golden" / "v1" / name;
  std::ifstream file(path);
  INFO(path.string());
  REQUIRE(file);
  std::size_t count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    const golden::Verdict verdict = golden::judge(line);
    INFO(verdict.name);
    CHECK(verdict.given == verdict.expected);
  }
  return count;
}

}  // namespace

TEST_CASE("golden vectors: C22 C23 C24 C25 C27 every event and message gets its verdict",
          "[golden]") {
  CHECK(judge_file("events-valid.ndjson") + judge_file("messages-valid.ndjson") >= 150);
  CHECK(judge_file("events-invalid.ndjson") + judge_file("messages-invalid.ndjson") >= 150);
}

TEST_CASE(
    "golden vectors: C23 C26 C28 C29 C30 every JSON text gets its canonical form or its refusal",
    "[golden][json]") {
  CHECK(judge_file("json-valid.ndjson") >= 50);
  CHECK(judge_file("json-invalid.ndjson") >= 60);
}

TEST_CASE("golden vectors: a recipe is words of hex, some of them repeated", "[golden]") {
  CHECK(as_text(golden::from_recipe("6162 78*3")) == "abxxx");
  CHECK(golden::from_recipe("").empty());
}
