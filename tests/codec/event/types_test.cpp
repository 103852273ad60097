#include "codec/event/types.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <string>
#include <utility>

using namespace runwire;

namespace {

constexpr std::array roots{
    std::pair{std::string_view("run"), Root::run},
    std::pair{std::string_view("turn"), Root::turn},
    std::pair{std::string_view("model"), Root::model},
    std::pair{std::string_view("tool"), Root::tool},
    std::pair{std::string_view("interaction"), Root::interaction},
    std::pair{std::string_view("text"), Root::text},
    std::pair{std::string_view("reasoning"), Root::reasoning},
    std::pair{std::string_view("tool.input"), Root::tool_input},
    std::pair{std::string_view("stream"), Root::stream},
    std::pair{std::string_view("observer"), Root::observer},
};

constexpr std::array steps{
    std::pair{std::string_view("started"), Step::started},
    std::pair{std::string_view("delta"), Step::delta},
    std::pair{std::string_view("ended"), Step::ended},
    std::pair{std::string_view("progress"), Step::progress},
    std::pair{std::string_view("completed"), Step::completed},
    std::pair{std::string_view("failed"), Step::failed},
    std::pair{std::string_view("cancelled"), Step::cancelled},
};

/// DESIGN's table: scopes start and end one of three ways, contents start, grow and end.
bool in_the_table(Root root, Step step) {
  switch (root) {
    case Root::run:
    case Root::turn:
    case Root::model:
    case Root::interaction:
      return step == Step::started || step >= Step::completed;
    case Root::tool:
      return step == Step::started || step == Step::progress || step >= Step::completed;
    case Root::text:
    case Root::reasoning:
    case Root::tool_input:
      return step == Step::started || step == Step::delta || step == Step::ended;
    default:
      return false;
  }
}

}  // namespace

TEST_CASE("types: every root with every step is known exactly where the table has it", "[event]") {
  std::size_t known = 0;
  for (const auto& [word, root] : roots) {
    for (const auto& [name, step] : steps) {
      const std::string type = std::string(word) + "." + std::string(name);
      INFO(type);
      const TypeOf found = classify(type);
      CHECK(found.root == root);
      CHECK(found.step == (in_the_table(root, step) ? step : Step::none));
      CHECK(found.unknown_reserved() != in_the_table(root, step));
      known += in_the_table(root, step) ? 1U : 0U;
    }
  }
  CHECK(known == 4 * 4 + 5 + 3 * 3);
}

TEST_CASE("types: what happens under a reserved root and is not in the table is unknown",
          "[event]") {
  for (const char* type : {"run",
                           "turn",
                           "tool",
                           "tool.input",
                           "stream",
                           "stream.opened",
                           "observer",
                           "observer.lost",
                           "run.",
                           "run.started.again",
                           "tool.input.started.again",
                           "tool.inputs.started",
                           "text.started_",
                           "run.Started",
                           "model.start",
                           "reasoning.deltas",
                           "observer.skipped.twice"}) {
    INFO(type);
    CHECK(classify(type).unknown_reserved());
    CHECK_FALSE(classify(type).terminal());
    CHECK_FALSE(classify(type).ephemeral());
  }
}

TEST_CASE("types: everything outside the reserved roots is the user's", "[event]") {
  for (const char* type : {"",
                           "a",
                           "runs.started",
                           "ru.n",
                           "acme.run.started",
                           "input.started",
                           "texts",
                           "modem.failed",
                           "observed.skipped",
                           "streams",
                           "user.delta",
                           "acme.completed"}) {
    INFO(type);
    CHECK(classify(type) == TypeOf{});
    CHECK_FALSE(classify(type).unknown_reserved());
    CHECK_FALSE(classify(type).terminal());
    CHECK_FALSE(classify(type).ephemeral());
  }
}

TEST_CASE("types: the bus's own note of a skipped event is known", "[event]") {
  CHECK(classify("observer.skipped") == TypeOf{Root::observer, Step::ended});
}

TEST_CASE("types: deltas and progress are ephemeral, and three steps are terminal", "[event]") {
  for (const auto& [word, root] : roots) {
    for (const auto& [name, step] : steps) {
      if (!in_the_table(root, step)) continue;
      const TypeOf found{root, step};
      CHECK(found.ephemeral() == (name == "delta" || name == "progress"));
      CHECK(found.terminal() == (name == "completed" || name == "failed" || name == "cancelled"));
      CHECK(found.scope() == (root <= Root::interaction));
      CHECK(found.content() != found.scope());
    }
  }
}
