#include "codec/base/limits.hpp"
#include "codec/base/strong.hpp"
#include "codec/event/types.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace runwire;

namespace {

using Member = std::pair<std::string, std::string>;
using Members = std::vector<Member>;

const Member turn{"turn", "1"};
const Member operation{"operation_id", R"("op")"};
const Member call{"call_id", R"("call")"};
const Member name{"name", R"("grep")"};
const Member interaction{"interaction_id", R"("ask")"};
const Member reason{"reason", R"("user")"};
const Member problem{"problem", R"({"code":"c","message":"","retryable":false})"};
const Member text_id{"text_id", R"("t")"};
const Member reasoning_id{"reasoning_id", R"("r")"};
const Member index_0{"index", "0"};
const Member delta{"delta", R"("")"};
const Member text{"text", R"("")"};
const Member deltas{"deltas", "0"};

struct Row {
  std::string type;
  Members required;
};

/// DESIGN's table of payloads, row by row.
const std::vector<Row>& table() {
  static const std::vector<Row> rows{
      {"run.started", {}},
      {"run.completed", {}},
      {"run.failed", {problem}},
      {"run.cancelled", {reason}},
      {"turn.started", {turn}},
      {"turn.completed", {turn}},
      {"turn.failed", {turn, problem}},
      {"turn.cancelled", {turn, reason}},
      {"model.started", {turn, operation, {"model", R"("m")"}, {"attempt", "1"}}},
      {"model.completed", {operation, {"finish", R"("stop")"}, {"usage", "{}"}}},
      {"model.failed", {operation, problem, {"position", R"("mid_stream")"}}},
      {"model.cancelled", {operation, reason}},
      {"text.started", {operation, text_id}},
      {"text.delta", {text_id, index_0, delta}},
      {"text.ended", {operation, text_id, text, deltas}},
      {"reasoning.started", {operation, reasoning_id}},
      {"reasoning.delta", {reasoning_id, index_0, delta}},
      {"reasoning.ended", {operation, reasoning_id, text, deltas}},
      {"tool.input.started", {operation, call, name}},
      {"tool.input.delta", {call, index_0, delta}},
      {"tool.input.ended", {operation, call, name, {"input", "null"}}},
      {"tool.started", {turn, call, name}},
      {"tool.progress", {call, {"message", R"("")"}}},
      {"tool.completed", {call, name, {"outcome", R"("ok")"}}},
      {"tool.failed",
       {call, name, problem, {"outcome", R"("uncertain")"}, {"retry", R"("never")"}}},
      {"tool.cancelled", {call, name, reason}},
      {"interaction.started", {turn, interaction, {"kind", R"("approval")"}}},
      {"interaction.completed", {interaction}},
      {"interaction.failed", {interaction, problem}},
      {"interaction.cancelled", {interaction, reason}},
  };
  return rows;
}

std::string object_of(const Members& members) {
  std::string object = "{";
  for (const auto& [key, value] : members) {
    if (object.size() > 1) object += ',';
    object += '"';
    object += key;
    object += "\":";
    object += value;
  }
  return object + "}";
}

Members with(Members members, const Member& changed) {
  for (auto& member : members) {
    if (member.first == changed.first) member.second = changed.second;
  }
  return members;
}

Result<Payload> read(const Row& row, const Members& members) {
  return read_payload(classify(row.type), object_of(members));
}

void check_refused(const Row& row, const Members& members, std::string_view field) {
  INFO(row.type << " " << object_of(members));
  const auto payload = read(row, members);
  REQUIRE_FALSE(payload);
  CHECK(payload.error().code == ErrorCode::invalid);
  CHECK(payload.error().text("field") == field);
  CHECK(payload.error().message.find(field) != std::string::npos);
}

/// Every row that requires `key`, with each of `values` in its place, is refused.
void check_values_refused(std::string_view key, const std::vector<std::string>& values) {
  std::size_t rows = 0;
  for (const Row& row : table()) {
    for (const auto& [own, value] : row.required) {
      if (own != key) continue;
      ++rows;
      for (const std::string& bad : values)
        check_refused(row, with(row.required, {own, bad}), key);
    }
  }
  CHECK(rows > 0);
}

}  // namespace

TEST_CASE("payload: every reserved type takes what the table requires, and more", "[event]") {
  for (const Row& row : table()) {
    INFO(row.type);
    REQUIRE(classify(row.type).step != Step::none);
    CHECK(read(row, row.required));
    Members more = row.required;
    more.insert(more.begin(), {"aa", R"({"turn":"x","reason":[1,{"problem":null}]})"});
    more.emplace_back("zz", "[[],null]");
    CHECK(read(row, more));
  }
}

TEST_CASE("payload: every required field of every reserved type is missed by its name", "[event]") {
  for (const Row& row : table()) {
    for (std::size_t left_out = 0; left_out < row.required.size(); ++left_out) {
      Members members = row.required;
      members.erase(members.begin() + static_cast<std::ptrdiff_t>(left_out));
      check_refused(row, members, row.required[left_out].first);
    }
  }
}

TEST_CASE("payload: data of a reserved type is an object", "[event]") {
  for (const Row& row : table()) {
    for (const char* data : {"null", "[]", "\"{}\"", "1", "true"}) {
      INFO(row.type << " " << data);
      const auto payload = read_payload(classify(row.type), data);
      REQUIRE_FALSE(payload);
      CHECK(payload.error().code == ErrorCode::invalid);
    }
  }
}

TEST_CASE("payload: identities and short texts are texts with something in them", "[event]") {
  for (const char* key : {"operation_id",
                          "call_id",
                          "interaction_id",
                          "text_id",
                          "reasoning_id",
                          "name",
                          "model",
                          "finish",
                          "kind",
                          "reason",
                          "outcome",
                          "position",
                          "retry"}) {
    check_values_refused(key, {"null", "1", "[]", "{}", "true", R"("")"});
  }
}

TEST_CASE("payload: a text may be empty but is a text, and a usage is an object", "[event]") {
  check_values_refused("usage", {"null", "1", "[]", R"("{}")"});
  for (const char* key : {"delta", "text", "message"})
    check_values_refused(key, {"null", "1", "[]", "{}", "true"});
}

TEST_CASE("payload: counts are integers from 0, and a turn is one from 1", "[event]") {
  for (const char* key : {"index", "deltas", "attempt", "turn"}) {
    check_values_refused(
        key, {"null", "-1", "1.5", R"("1")", "[]", "{}", "true", "9007199254740992", "1e+30"});
  }
  check_values_refused("turn", {"0"});
  const auto most = read_payload(classify("turn.started"), R"({"turn":9007199254740991})");
  REQUIRE(most);
  CHECK(most->turn == exact_integer_max);
}

TEST_CASE("payload: words of a closed list are those words", "[event]") {
  check_values_refused("position", {R"("before")", R"("MID_STREAM")"});
  check_values_refused("retry", {R"("maybe")", R"("Never")"});
  const Row failed = table()[24];
  REQUIRE(failed.type == "tool.failed");
  check_refused(failed, with(failed.required, {"outcome", R"("ok")"}), "outcome");
  for (const char* word : {R"("definitive")", R"("uncertain")"}) {
    CHECK(read(failed, with(failed.required, {"outcome", word})));
  }
  for (const char* word : {R"("never")", R"("allowed")"}) {
    CHECK(read(failed, with(failed.required, {"retry", word})));
  }
  CHECK(read_payload(classify("model.failed"),
                     object_of({operation, problem, {"position", R"("before_stream")"}})));
}

TEST_CASE("payload: a problem says what, why and whether to try again", "[event]") {
  const auto judged = [](const std::string& problem) {
    return read_payload(classify("run.failed"), R"({"problem":)" + problem + "}");
  };
  CHECK(judged(R"({"code":"c","details":{"a":[1]},"message":"m","retryable":true})"));
  const std::pair<const char*, const char*> bad[] = {
      {"null", "problem"},
      {R"("c")", "problem"},
      {"[]", "problem"},
      {"{}", "problem.code"},
      {R"({"message":"m","retryable":true})", "problem.code"},
      {R"({"code":"c","retryable":true})", "problem.message"},
      {R"({"code":"c","message":"m"})", "problem.retryable"},
      {R"({"code":"","message":"m","retryable":true})", "problem.code"},
      {R"({"code":1,"message":"m","retryable":true})", "problem.code"},
      {R"({"code":"c","message":null,"retryable":true})", "problem.message"},
      {R"({"code":"c","message":"m","retryable":"true"})", "problem.retryable"},
      {R"({"code":"c","message":"m","retryable":0})", "problem.retryable"},
  };
  for (const auto& [problem, field] : bad) {
    INFO(problem);
    const auto payload = judged(problem);
    REQUIRE_FALSE(payload);
    CHECK(payload.error().code == ErrorCode::invalid);
    CHECK(payload.error().text("field") == field);
  }
}

TEST_CASE("payload: an ended tool input has its value or the raw text, never both", "[event]") {
  const auto judged = [](const std::string& rest) {
    return read_payload(classify("tool.input.ended"),
                        R"({"call_id":"c","name":"n","operation_id":"o")" + rest + "}");
  };
  for (const char* value : {"null", "{}", "[1]", R"("text")", "false", "0"}) {
    CHECK(judged(std::string(R"(,"input":)") + value));
  }
  CHECK(judged(R"(,"invalid":"{\"a\":")"));
  CHECK(judged(R"(,"invalid":"")"));
  CHECK(judged(R"(,"input":{},"invalid":"")").error().text("field") == "input");
  CHECK(judged("").error().text("field") == "input");
  CHECK(judged(R"(,"invalid":{})").error().text("field") == "invalid");
}

TEST_CASE("payload: identities have a bound, on both sides", "[event]") {
  const auto judged = [](std::size_t bytes) {
    return read_payload(classify("interaction.completed"),
                        R"({"interaction_id":")" + std::string(bytes, 'i') + "\"}");
  };
  CHECK(judged(limits::identity_bytes_max));
  const auto over = judged(limits::identity_bytes_max + 1);
  REQUIRE_FALSE(over);
  CHECK(over.error().code == ErrorCode::too_large);
  CHECK(over.error().number("limit") == limits::identity_bytes_max);
  const auto reason_of = [](std::size_t bytes) {
    return read_payload(classify("run.cancelled"),
                        R"({"reason":")" + std::string(bytes, 'r') + "\"}");
  };
  CHECK(reason_of(limits::reason_bytes_max));
  CHECK(reason_of(limits::reason_bytes_max + 1).error().code == ErrorCode::too_large);
}

TEST_CASE("payload: what is read is what the data says, escapes resolved", "[event]") {
  const auto started =
      read_payload(classify("tool.started"), R"({"call_id":"c\n1","name":"\"n\"","turn":7})");
  REQUIRE(started);
  CHECK(*started == Payload{.turn = 7, .call_id = "c\n1", .name = "\"n\""});
  const auto ended =
      read_payload(classify("reasoning.ended"),
                   R"({"deltas":12,"operation_id":"o","reasoning_id":"r","text":"t"})");
  REQUIRE(ended);
  CHECK(*ended == Payload{.deltas = 12, .operation_id = "o", .content_id = "r"});
  const auto grown =
      read_payload(classify("text.delta"), R"({"delta":"x","index":3,"text_id":"t"})");
  REQUIRE(grown);
  CHECK(*grown == Payload{.index = 3, .content_id = "t"});
}

TEST_CASE("payload: fields that a type does not require are not read from it", "[event]") {
  const auto payload =
      read_payload(classify("run.completed"), R"({"call_id":"c","turn":"not a number"})");
  REQUIRE(payload);
  CHECK(*payload == Payload{});
}

TEST_CASE("payload: data of user types and of a newer peer's types is not looked into", "[event]") {
  for (const char* type : {"acme.hit", "run.paused", "stream.opened", "tool.input.parsed"}) {
    for (const char* data : {"null", "[]", R"({"turn":"x"})"}) {
      const auto payload = read_payload(classify(type), data);
      REQUIRE(payload);
      CHECK(*payload == Payload{});
    }
  }
}

TEST_CASE("read_reason: why a scope ended, where its data says so", "[codec][event]") {
  CHECK(read_reason(R"({"problem":{"code":"owner_lost","message":"m","retryable":false}})") ==
        "owner_lost");
  CHECK(read_reason(R"({"reason":"user","turn":1})") == "user");
  CHECK(read_reason(R"({"problem":{"message":"no code"},"reason":"user"})") == "user");
  CHECK(read_reason("{}").empty());
  CHECK(read_reason(R"({"problem":7,"reason":7})").empty());
  CHECK(read_reason("[]").empty());
  const std::string longest(limits::identity_bytes_max, 'x');
  CHECK(read_reason(R"({"reason":")" + longest + R"(y"})") == longest);
}
