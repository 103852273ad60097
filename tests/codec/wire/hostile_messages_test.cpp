#include "codec/wire/messages.hpp"
#include "codec/wire/writer.hpp"
#include "tests/support/message_samples.hpp"

#include <catch2/catch.hpp>

#include <functional>

using namespace runwire;
using namespace runwire::wire;

namespace {

using Fill = std::function<void(Writer::Map&)>;

/// A header that starts as every request does, then whatever the test wants.
Bytes request_of(std::string_view op, const Fill& fill, std::uint64_t version = 1) {
  Bytes bytes;
  Writer writer(bytes);
  Writer::Map map(writer);
  map.number("v", version);
  map.text("op", op);
  map.number("rid", 77);
  map.binary("client", InstanceId{}.view());
  if (fill) fill(map);
  return bytes;
}

Error refusal_of(ByteView frame) {
  Addressed addressed;
  const Result<Request> decoded = decode_request(frame, addressed);
  REQUIRE_FALSE(decoded);
  return decoded.error();
}

bool is_taken(ByteView frame) {
  Addressed addressed;
  return decode_request(frame, addressed).has_value();
}

Bytes bytes_of(std::string_view text) {
  const ByteView view = as_bytes(text);
  return {view.begin(), view.end()};
}

/// Every decoder answers `frame` with an error.
void check_all_refuse(ByteView frame) {
  Addressed addressed;
  CHECK_FALSE(decode_request(frame, addressed));
  CHECK_FALSE(decode_reply(frame));
  CHECK_FALSE(decode_delivery(frame));
  CHECK_FALSE(decode_ack(frame));
  CHECK_FALSE(decode_live(frame));
}

Bytes append_of(const Fill& event, std::string_view subject = "r") {
  return request_of("append", [&](Writer::Map& map) {
    if (!subject.empty()) map.text("subject", subject);
    Writer& list = map.key("events");
    list.list(1);
    Writer::Map inner(list);
    inner.binary("id", EventId{}.view());
    event(inner);
  });
}

void plain_event(Writer::Map& map) {
  map.text("type", "acme.hit");
  map.text("data", "{}");
}

}  // namespace

TEST_CASE("messages: C22 each malformed request is a typed error that can be addressed",
          "[wire][hostile]") {
  const auto read_after = [](const Fill& after) {
    return request_of("read", [&](Writer::Map& map) { after(map); });
  };
  CHECK(is_taken(read_after([](Writer::Map& map) { map.number("after", 0); })));
  CHECK(is_taken(read_after([](Writer::Map& map) { map.number("after", exact_integer_max); })));
  const std::vector<Fill> bad_cursors{
      [](Writer::Map& map) { map.number("after", exact_integer_max + 1); },
      [](Writer::Map& map) { map.number("after", ~std::uint64_t{0}); },
      [](Writer::Map& map) { map.text("after", "abc"); },
      [](Writer::Map& map) { map.boolean("after", true); },
      [](Writer::Map&) {},
  };
  for (const Fill& bad : bad_cursors) {
    const Error refused = refusal_of(read_after(bad));
    CHECK(refused.code == ErrorCode::invalid);
    CHECK(refused.message.find("after") != std::string::npos);
  }
  Bytes negative = read_after([](Writer::Map& map) { map.number("after", 0); });
  negative.back() = std::byte{0xff};  // -1
  CHECK(refusal_of(negative).code == ErrorCode::invalid);
  Addressed addressed;
  CHECK_FALSE(decode_request(negative, addressed));
  CHECK((addressed.rid == 77 && addressed.op == "read"));
}

TEST_CASE("messages: C22 subjects, bounds and unknown operations", "[wire][hostile]") {
  const auto subject = [](std::string_view name) {
    return request_of("read", [&](Writer::Map& map) {
      map.text("subject", name);
      map.number("after", 0);
    });
  };
  CHECK(is_taken(subject(std::string(128, 'r'))));
  CHECK(refusal_of(subject(std::string(129, 'r'))).code == ErrorCode::too_large);
  CHECK(refusal_of(subject(std::string(10'240, 'r'))).code == ErrorCode::too_large);
  CHECK(refusal_of(subject("")).code == ErrorCode::invalid);
  CHECK(refusal_of(subject("a/b")).code == ErrorCode::invalid);
  CHECK(refusal_of(request_of("fly", {})).code == ErrorCode::unsupported);
  CHECK(refusal_of(request_of(std::string(33, 'o'), {})).code == ErrorCode::too_large);
}

TEST_CASE("messages: C22 another major is refused with the one that is known, and still addressed",
          "[wire][hostile]") {
  for (const std::uint64_t version : {0U, 2U, 255U}) {
    const Bytes bytes = request_of("hello", {}, version);
    Addressed addressed;
    const Result<Request> decoded = decode_request(bytes, addressed);
    REQUIRE_FALSE(decoded);
    CHECK(decoded.error().code == ErrorCode::unsupported);
    CHECK(decoded.error().text("supported") == "1");
    CHECK((addressed.rid == 77 && addressed.op == "hello"));
  }
}

TEST_CASE("messages: `v` must stand first", "[wire][hostile]") {
  Bytes bytes;
  {
    Writer writer(bytes);
    Writer::Map map(writer);
    map.text("op", "observers");
    map.number("v", 1);
    map.number("rid", 1);
    map.binary("client", InstanceId{}.view());
  }
  CHECK(refusal_of(bytes).code == ErrorCode::invalid);
}

TEST_CASE("messages: numbers keep their ranges on both sides", "[wire][hostile]") {
  const auto with = [](std::string_view key, std::uint64_t value) {
    return request_of("read", [&](Writer::Map& map) {
      map.number("after", 0);
      map.number(key, value);
    });
  };
  CHECK(is_taken(with("max_events", 1)));
  CHECK(is_taken(with("max_events", 1024)));
  CHECK_FALSE(is_taken(with("max_events", 0)));
  CHECK_FALSE(is_taken(with("max_events", 1025)));
  CHECK(is_taken(with("max_bytes", 1U << 20U)));
  CHECK_FALSE(is_taken(with("max_bytes", (1U << 20U) + 1)));
  CHECK(is_taken(with("wait_ms", 30'000)));
  CHECK_FALSE(is_taken(with("wait_ms", 30'001)));
  CHECK(is_taken(with("some_newer_key", exact_integer_max + 1)));
}

TEST_CASE("messages: an append keeps its bounds on both sides", "[wire][hostile]") {
  CHECK(is_taken(append_of(plain_event)));
  CHECK_FALSE(is_taken(append_of(plain_event, "")));  // Durable, and no subject.
  CHECK(is_taken(append_of(
      [](Writer::Map& map) {
        plain_event(map);
        map.boolean("ephemeral", true);
      },
      "")));
  const auto data = [](std::size_t size) {
    return append_of([&](Writer::Map& map) {
      map.text("type", "acme.hit");
      map.text("data", std::string(size, '1'));
    });
  };
  CHECK(is_taken(data(limits::data_bytes_max)));
  CHECK(refusal_of(data(limits::data_bytes_max + 1)).code == ErrorCode::too_large);
  const auto version = [](std::uint64_t number) {
    return append_of([&](Writer::Map& map) {
      plain_event(map);
      map.number("version", number);
    });
  };
  CHECK(is_taken(version(0xffff'ffffU)));
  CHECK_FALSE(is_taken(version(0x1'0000'0000U)));
  CHECK_FALSE(is_taken(version(0)));
  const auto events = [](std::size_t count) {
    Append append;
    append.subject = "r";
    append.events.assign(count, Draft{{}, "acme.hit", {}, 1, true, "{}"});
    return encode(Request{1, {}, append});
  };
  CHECK(is_taken(events(1024)));
  CHECK(refusal_of(events(1025)).code == ErrorCode::too_large);
  CHECK(refusal_of(events(0)).code == ErrorCode::invalid);
  Append large;
  large.subject = "r";
  large.events.assign(4,
                      Draft{{}, "acme.hit", {}, 1, true, std::string(limits::data_bytes_max, '1')});
  CHECK(is_taken(encode(Request{1, {}, large})));
  large.events.push_back(Draft{{}, "acme.hit", {}, 1, true, "1"});
  CHECK(refusal_of(encode(Request{1, {}, large})).code == ErrorCode::too_large);
}

TEST_CASE("messages: a location keeps its bounds on both sides", "[wire][hostile]") {
  const auto location = [](std::size_t entries, std::size_t key, std::size_t value) {
    Append append;
    append.subject = "r";
    append.events.push_back(Draft{{}, "acme.hit", {}, 1, true, "{}"});
    for (std::size_t at = 0; at < entries; ++at) {
      std::string name(key, 'k');
      name[0] = static_cast<char>('a' + at);
      append.events[0].location.emplace_back(name, std::string(value, 'v'));
    }
    return encode(Request{1, {}, append});
  };
  CHECK(is_taken(location(8, 64, 256)));
  CHECK_FALSE(is_taken(location(9, 4, 4)));
  CHECK_FALSE(is_taken(location(1, 65, 4)));
  CHECK_FALSE(is_taken(location(1, 4, 257)));
}

TEST_CASE("messages: C23 nesting is refused at one level too many, by every decoder",
          "[wire][hostile]") {
  const auto deep = [](std::size_t levels) {
    Bytes bytes =
        bytes_of(std::string_view("\x85\xa1v\x01\xa2op\xa6status\xa3rid\x01\xa6"
                                  "client\xc4\x10",
                                  28));
    bytes.insert(bytes.end(), 16, std::byte{0});
    for (const char letter : std::string_view("\xa1z"))
      bytes.push_back(static_cast<std::byte>(letter));
    bytes.insert(bytes.end(), levels, std::byte{0x91});
    bytes.push_back(std::byte{0xc0});
    return bytes;
  };
  CHECK(is_taken(deep(limits::depth_max - 1)));  // The header itself is the first level.
  CHECK(refusal_of(deep(limits::depth_max)).code == ErrorCode::too_large);
  Bytes bomb(100'000, std::byte{0x91});
  bomb.push_back(std::byte{0xc0});
  check_all_refuse(bomb);
  std::string maps;
  for (int level = 0; level < 100'000; ++level)
    maps +=
        "\x81\xa1"
        "a";
  check_all_refuse(bytes_of(maps + "\xc0"));
}

TEST_CASE("messages: C24 a declared length allocates nothing and is `invalid`", "[wire][hostile]") {
  for (const std::string_view bomb : {std::string_view("\xdd\xff\xff\xff\xff", 5),
                                      std::string_view("\xdf\xff\xff\xff\xff", 5),
                                      std::string_view("\xdb\xff\xff\xff\xff"
                                                       "a",
                                                       6),
                                      std::string_view("\xc6\xff\xff\xff\xff"
                                                       "a",
                                                       6),
                                      std::string_view("\xc9\xff\xff\xff\xff\x01"
                                                       "a",
                                                       7)}) {
    check_all_refuse(bytes_of(bomb));
    // The same as the value of a key.
    Bytes bytes = bytes_of(std::string_view("\x82\xa1v\x01\xa1z", 6));
    const Bytes tail = bytes_of(bomb);
    bytes.insert(bytes.end(), tail.begin(), tail.end());
    check_all_refuse(bytes);
  }
}

TEST_CASE("messages: more values than a header may have are `too_large`", "[wire][hostile]") {
  const auto with_values = [](std::size_t values) {
    return request_of("status", [&](Writer::Map& map) {
      Writer& list = map.key("newer");
      list.list(values);
      for (std::size_t at = 0; at < values; ++at)
        list.number(0);
    });
  };
  // The header, five keys and their values: eleven besides the items.
  CHECK(is_taken(with_values(limits::tokens_max - 11)));
  CHECK(refusal_of(with_values(limits::tokens_max - 10)).code == ErrorCode::too_large);
}

TEST_CASE("messages: C25 keys that are no text, and integers beyond 2^53-1, are refused",
          "[wire][hostile]") {
  check_all_refuse(bytes_of(std::string_view("\x81\x01\x01", 3)));
  check_all_refuse(bytes_of(std::string_view("\x82\xa1v\x01\x01\x01", 6)));
  Ack ack{"audit", {}, Term{1}, Epoch{1}, Position{exact_integer_max}, false, ""};
  CHECK(decode_ack(encode(ack)));
  ack.position = Position{exact_integer_max + 1};
  CHECK(decode_ack(encode(ack)).error().code == ErrorCode::invalid);
}

TEST_CASE("messages: C27 a message is exactly one value of its form", "[wire][hostile]") {
  const Bytes ack = encode(Ack{"audit", {}, Term{1}, Epoch{1}, Position{7}, false, ""});
  REQUIRE(decode_ack(ack));
  Bytes trailing = ack;
  trailing.push_back(std::byte{0xc0});
  CHECK(decode_ack(trailing).error().code == ErrorCode::invalid);
  Bytes twice = ack;
  twice.insert(twice.end(), ack.begin(), ack.end());
  CHECK(decode_ack(twice).error().code == ErrorCode::invalid);
  CHECK(decode_ack({}).error().code == ErrorCode::invalid);
  CHECK(decode_ack(ByteView(ack).first(ack.size() - 1)).error().code == ErrorCode::invalid);
  check_all_refuse(bytes_of("\xc0"));
  check_all_refuse(bytes_of("\x80"));
  check_all_refuse(bytes_of("\xc1"));
}

TEST_CASE("messages: an ack says either acked or nack", "[wire][hostile]") {
  const auto ack_with = [](const Fill& fill) {
    Bytes bytes;
    {
      Writer writer(bytes);
      Writer::Map map(writer);
      map.number("v", 1);
      map.text("observer", "audit");
      map.binary("log", LogId{}.view());
      map.number("term", 1);
      map.number("epoch", 1);
      fill(map);
    }
    return decode_ack(bytes).has_value();
  };
  CHECK(ack_with([](Writer::Map& map) { map.number("acked", 0); }));
  CHECK(ack_with([](Writer::Map& map) { map.number("nack", 1); }));
  CHECK_FALSE(ack_with([](Writer::Map&) {}));
  CHECK_FALSE(ack_with([](Writer::Map& map) { map.number("nack", 0); }));
  CHECK_FALSE(ack_with([](Writer::Map& map) {
    map.number("acked", 1);
    map.number("nack", 2);
  }));
}

TEST_CASE("messages: keys that come twice are refused at any depth", "[wire][hostile]") {
  CHECK(refusal_of(request_of("status", [](Writer::Map& map) { map.number("rid", 77); })).code ==
        ErrorCode::invalid);
  CHECK(refusal_of(request_of("status", [](Writer::Map& map) {
          Writer::Map inner(map.key("newer"));
          inner.number("a", 1);
          inner.number("a", 1);
        })).code == ErrorCode::invalid);
}

TEST_CASE("messages: extension types are refused and text must be UTF-8", "[wire][hostile]") {
  check_all_refuse(bytes_of(std::string_view("\x82\xa1v\x01\xa1z\xd4\x01\x01", 9)));
  CHECK(refusal_of(request_of("status", [](Writer::Map& map) {
          map.text("newer", "\xff");
        })).code == ErrorCode::invalid);
}

TEST_CASE("messages: a span whose numbers contradict each other is refused", "[wire][hostile]") {
  const auto is_sound = [](const Span& span) {
    Live live;
    live.span = span;
    return decode_live(encode(live)).has_value();
  };
  CHECK(is_sound({.count = 3, .first = Position{4}, .last = Position{6}}));
  CHECK(is_sound({.count = 3, .first = Position{4}, .last = Position{5}}));  // One is ephemeral.
  CHECK_FALSE(is_sound({.count = 3, .first = Position{4}, .last = Position{7}}));
  CHECK_FALSE(is_sound({.count = 3, .first = Position{4}, .last = Position{3}}));
  CHECK_FALSE(is_sound({.count = 3, .first = Position{0}, .last = Position{3}}));
  const std::vector<Position> rising{Position{4}, Position{9}};
  CHECK(is_sound({.count = 2, .first = Position{4}, .last = Position{9}, .positions = rising}));
  CHECK_FALSE(
      is_sound({.count = 1, .first = Position{4}, .last = Position{9}, .positions = rising}));
  CHECK_FALSE(
      is_sound({.count = 2, .first = Position{4}, .last = Position{8}, .positions = rising}));
  const std::vector<Position> level{Position{4}, Position{4}};
  CHECK_FALSE(
      is_sound({.count = 2, .first = Position{4}, .last = Position{4}, .positions = level}));
  CHECK_FALSE(is_sound({.count = 2, .owners = {{1, {}, OwnerTerm{1}}}}));
}

TEST_CASE("messages: unknown kinds of one-way messages are `unsupported`", "[wire][hostile]") {
  const Bytes live = encode(Live{});
  std::string text(as_text(live));
  text.replace(text.find("events"), 6, "evants");
  CHECK(decode_live(as_bytes(text)).error().code == ErrorCode::unsupported);
}

TEST_CASE("messages: random damage never gets past the decoders", "[wire][hostile]") {
  const auto seed = Catch::rngSeed();
  INFO("seed " << seed);
  test::Samples samples(seed);
  std::mt19937_64 random(seed);
  std::vector<Bytes> frames;
  for (int round = 0; round < 20; ++round) {
    for (const auto& message : samples.requests())
      frames.push_back(encode(message));
    for (const auto& message : samples.replies())
      frames.push_back(encode(message));
    for (const auto& message : samples.deliveries())
      frames.push_back(encode(message));
    for (const auto& message : samples.lives())
      frames.push_back(encode(message));
  }
  std::size_t taken = 0;
  for (Bytes& frame : frames) {
    for (int hit = 0; hit < 20; ++hit) {
      Bytes damaged = frame;
      damaged[random() % damaged.size()] = static_cast<std::byte>(random());
      if (hit % 5 == 0) damaged.resize(random() % damaged.size());
      Addressed addressed;
      taken += decode_request(damaged, addressed).has_value() ? 1U : 0U;
      taken += decode_reply(damaged).has_value() ? 1U : 0U;
      taken += decode_delivery(damaged).has_value() ? 1U : 0U;
      taken += decode_ack(damaged).has_value() ? 1U : 0U;
      taken += decode_live(damaged).has_value() ? 1U : 0U;
    }
  }
  CHECK(taken < frames.size() * 20 * 5);  // The sanitizers judge the rest.
}
