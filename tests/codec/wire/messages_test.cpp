#include "codec/wire/messages.hpp"

#include "codec/wire/writer.hpp"
#include "tests/support/message_samples.hpp"

#include <catch2/catch.hpp>

using namespace runwire;
using namespace runwire::wire;

namespace {

/// Decoding what was encoded and encoding it again gives the same bytes: every field survived, and
/// comparing bytes needs no comparison for each struct. What a field holds is tested below.
void check_round_trip(const Request& request) {
  const Bytes bytes = encode(request);
  Addressed addressed;
  const Result<Request> decoded = decode_request(bytes, addressed);
  if (!decoded) FAIL(describe(decoded.error()));
  CHECK(encode(*decoded) == bytes);
  CHECK(addressed.rid == request.rid);
  CHECK(addressed.op == name_of(request.operation));
  CHECK(decoded->operation.index() == request.operation.index());
}

void check_round_trip(const Reply& reply) {
  const Bytes bytes = encode(reply);
  const Result<Reply> decoded = decode_reply(bytes);
  if (!decoded) FAIL(describe(decoded.error()));
  CHECK(encode(*decoded) == bytes);
  CHECK(decoded->answer.index() == reply.answer.index());
  CHECK(decoded->error == reply.error);
}

}  // namespace

TEST_CASE("messages: every request survives the wire", "[wire]") {
  test::Samples samples(Catch::rngSeed());
  INFO("seed " << Catch::rngSeed());
  for (int round = 0; round < 200; ++round) {
    for (const Request& request : samples.requests())
      check_round_trip(request);
  }
}

TEST_CASE("messages: every reply survives the wire", "[wire]") {
  test::Samples samples(Catch::rngSeed());
  INFO("seed " << Catch::rngSeed());
  for (int round = 0; round < 200; ++round) {
    for (const Reply& reply : samples.replies())
      check_round_trip(reply);
  }
}

TEST_CASE("messages: deliveries, acks and live messages survive the wire", "[wire]") {
  test::Samples samples(Catch::rngSeed());
  INFO("seed " << Catch::rngSeed());
  for (int round = 0; round < 200; ++round) {
    for (const Delivery& delivery : samples.deliveries()) {
      const Result<Delivery> decoded = decode_delivery(encode(delivery));
      REQUIRE(decoded);
      CHECK(encode(*decoded) == encode(delivery));
      CHECK(decoded->span == delivery.span);
    }
    for (const Ack& ack : samples.acks()) {
      const Result<Ack> decoded = decode_ack(encode(ack));
      REQUIRE(decoded);
      CHECK(encode(*decoded) == encode(ack));
    }
    for (const Live& live : samples.lives()) {
      const Result<Live> decoded = decode_live(encode(live));
      REQUIRE(decoded);
      CHECK(encode(*decoded) == encode(live));
      CHECK(decoded->span == live.span);
    }
  }
}

TEST_CASE("messages: the fields of an append arrive as they were given", "[wire]") {
  Append append;
  append.subject = "run-1";
  append.events.push_back({.type = "text.delta",
                           .location = {{"node", "n1"}},
                           .version = 7,
                           .durable = false,
                           .data = R"({"index":0})"});
  append.level = Level::acknowledged;
  append.deadline_ms = 5000;
  append.expect = Sequence{0};
  append.epoch = Epoch{3};
  append.go_on = true;
  append.again = true;
  Addressed addressed;
  const auto decoded = decode_request(encode(Request{9, {}, append}), addressed);
  REQUIRE(decoded);
  const auto& got = std::get<Append>(decoded->operation);
  CHECK(got.subject == "run-1");
  REQUIRE(got.events.size() == 1);
  CHECK(got.events[0].type == "text.delta");
  CHECK(got.events[0].location == Location{{"node", "n1"}});
  CHECK(got.events[0].version == 7);
  CHECK_FALSE(got.events[0].durable);
  CHECK(got.events[0].data == R"({"index":0})");
  CHECK(got.level == Level::acknowledged);
  CHECK(got.deadline_ms == 5000U);
  CHECK(got.expect == Sequence{0});
  CHECK(got.epoch == Epoch{3});
  CHECK((got.go_on && got.again));
}

TEST_CASE("messages: the header's first key is `v` and its bytes are the page's", "[wire]") {
  const Bytes bytes = encode(Request{5, {}, Observers{}});
  const std::string_view want(
      "\x84\xa1v\x01\xa2op\xa9observers\xa3rid\x05\xa6"
      "client\xc4\x10",
      31);
  CHECK(as_text(bytes).substr(0, want.size()) == want);
  CHECK(bytes.size() == want.size() + 16);
}

TEST_CASE("messages: an error without a body and one beside a partial answer differ", "[wire]") {
  Reply reply{4,
              "append",
              {},
              Term{2},
              Error{ErrorCode::lifecycle, "ended", {{"seq", std::uint64_t{9}}}},
              NoReply{}};
  CHECK(std::holds_alternative<NoReply>(decode_reply(encode(reply))->answer));
  AppendReply partial;
  partial.taken = 1;
  partial.seqs = {Sequence{4}};
  partial.positions = {Position{40}};
  reply.answer = partial;
  const Result<Reply> decoded = decode_reply(encode(reply));
  REQUIRE(decoded);
  CHECK(std::get<AppendReply>(decoded->answer).seqs == partial.seqs);
  CHECK(decoded->error->number("seq") == 9U);
}

TEST_CASE("messages: a code of a newer server is `internal` and keeps its name as a fact",
          "[wire]") {
  Bytes bytes;
  {
    Writer writer(bytes);
    Writer::Map map(writer);
    map.number("v", 1);
    map.text("op", "read");
    map.number("rid", 1);
    map.binary("log", LogId{}.view());
    map.number("term", 1);
    Writer::Map error(map.key("error"));
    error.text("code", "out_of_patience");
    error.text("message", "really");
  }
  const Result<Reply> decoded = decode_reply(bytes);
  REQUIRE(decoded);
  CHECK(decoded->error->code == ErrorCode::internal);
  CHECK(decoded->error->text("code") == "out_of_patience");
}

TEST_CASE("messages: an error that quotes bad bytes, or says too much, can still be read",
          "[wire]") {
  Error error{ErrorCode::invalid, std::string(5000, 'x') + "\xc3\xa9", {}};
  for (std::uint64_t at = 0; at < 20; ++at)
    error.facts.push_back({"f" + std::to_string(at), at});
  error.facts[1].name = "f0";
  Reply reply{1, "read", {}, Term{1}, error, NoReply{}};
  Result<Reply> decoded = decode_reply(encode(reply));
  REQUIRE(decoded);
  CHECK(decoded->error->message.size() == limits::error_message_bytes_max);
  CHECK(decoded->error->facts.size() == limits::error_facts_max - 1);
  reply.error = Error{ErrorCode::invalid, "bad \xff byte", {}};
  decoded = decode_reply(encode(reply));
  REQUIRE(decoded);
  CHECK(decoded->error->message == "bad ? byte");
  // A cut never leaves half a character.
  reply.error = Error{ErrorCode::invalid, std::string(4095, 'x') + "\xc3\xa9", {}};
  CHECK(decode_reply(encode(reply))->error->message.size() == 4095);
}

TEST_CASE("messages: a topic ends with its delimiter", "[wire]") {
  CHECK(topic_of("r1") == "r1/");
  CHECK(topic_of("") == "/");
}
