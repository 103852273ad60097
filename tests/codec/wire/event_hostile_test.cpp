#include "tests/codec/wire/raw_event.hpp"

#include <catch2/catch.hpp>

using namespace runwire;
using namespace runwire::test;

TEST_CASE("event decoder: the good event of these tests is good", "[wire][hostile]") {
  CHECK(is_taken(event_of(good())));
  Pairs pairs = good();
  pairs.emplace_back("\xa1x", "\xc0");
  CHECK(is_taken(event_of(pairs)));
}

TEST_CASE("event decoder: every value in a longer form than it needs is refused",
          "[wire][hostile]") {
  const std::string id_body(16, 'i');
  check_values_refused(id_at,
                       {bytes("\xc5\x00\x10") + id_body,
                        bytes("\xc6\x00\x00\x00\x10") + id_body,
                        "\xb0" + id_body,
                        "\xc4\x0f" + id_body.substr(1),
                        "\xc4\x11" + id_body + "i"});
  check_values_refused(
      type_at, {"\xd9\x01t", bytes("\xda\x00\x01t"), bytes("\xdb\x00\x00\x00\x01t"), "\xc4\x01t"});
  check_values_refused(
      subject_at,
      {"\xd9\x01s", bytes("\xda\x00\x01s"), bytes("\xdb\x00\x00\x00\x01s"), "\xc4\x01s"});
  check_values_refused(data_at,
                       {"\xd9\x04null",
                        bytes("\xda\x00\x04null"),
                        bytes("\xdb\x00\x00\x00\x04null"),
                        "\xc4\x04null"});
  check_values_refused(time_at,
                       {"\x05",
                        "\xcc\x05",
                        bytes("\xcd\x00\x05"),
                        bytes("\xce\x00\x00\x00\x05"),
                        bytes("\xd3\x00\x00\x00\x00\x00\x00\x00\x05"),
                        bytes("\xcb\x00\x00\x00\x00\x00\x00\x00\x05"),
                        bytes("\xcf\x00\x20\x00\x00\x00\x00\x00\x00"),
                        "\xff"});
  check_values_refused(location_at,
                       {bytes("\xde\x00\x01\xa1"
                              "a\xa1"
                              "1"),
                        bytes("\xdf\x00\x00\x00\x01\xa1"
                              "a\xa1"
                              "1"),
                        "\x81\xd9\x01"
                        "a\xa1"
                        "1",
                        "\x81\xa1"
                        "a\xd9\x01"
                        "1",
                        bytes("\x81\xa1"
                              "a\xd9\x00"),
                        "\x81\xa1"
                        "a\xc4\x01"
                        "1",
                        "\x81\xc4\x01"
                        "a\xa1"
                        "1"});
}

TEST_CASE("event decoder: a durable is a version in shortest form and a sequence in nine bytes",
          "[wire][hostile]") {
  const auto with = [](const std::string& version, const std::string& seq) {
    return "\x82\xa7version" + version + "\xa3seq" + seq;
  };
  for (const std::string& version :
       {bytes("\x7f"), bytes("\xcc\x80"), bytes("\xcd\x01\x00"), bytes("\xce\x00\x01\x00\x00")}) {
    CHECK(is_taken(event_of(with_value(durable_at, with(version, seq_bytes)))));
  }
  for (const std::string& version : {bytes("\xcc\x01"),
                                     bytes("\xcd\x00\x01"),
                                     bytes("\xcd\x00\xff"),
                                     bytes("\xce\x00\x00\x00\x01"),
                                     bytes("\xce\x00\x00\xff\xff"),
                                     bytes("\xcf\x00\x00\x00\x00\x00\x00\x00\x01"),
                                     bytes("\xd0\x01"),
                                     bytes("\x00"),
                                     bytes("\xcf\x00\x00\x00\x01\x00\x00\x00\x00"),
                                     bytes("\xa1"
                                           "1"),
                                     bytes("\xc0")}) {
    check_values_refused(durable_at, {with(version, seq_bytes)});
  }
  for (const std::string& seq : {bytes("\x07"),
                                 bytes("\xcc\x07"),
                                 bytes("\xce\x00\x00\x00\x07"),
                                 bytes("\xcf\x00\x00\x00\x00\x00\x00\x00\x00"),
                                 bytes("\xcf\x00\x20\x00\x00\x00\x00\x00\x00"),
                                 bytes("\xd3\x00\x00\x00\x00\x00\x00\x00\x07"),
                                 bytes("\xc3")}) {
    check_values_refused(durable_at, {with("\x01", seq)});
  }
  check_values_refused(durable_at,
                       {"\x80",
                        "\x81\xa7version\x01",
                        "\x82\xa3seq" + seq_bytes + "\xa7version\x01",
                        "\x82\xa7version\x01\xa7version\x01",
                        "\x83\xa7version\x01\xa3seq" + seq_bytes + "\xa1x\x01",
                        bytes("\xde\x00\x02\xa7version\x01\xa3seq") + seq_bytes,
                        "\xc0",
                        "\x92\x01" + seq_bytes,
                        "\x82\xd9\x07version\x01\xa3seq" + seq_bytes});
}

TEST_CASE("event decoder: a location is in the order of its keys, each once", "[wire][hostile]") {
  check_values_refused(location_at,
                       {"\x82\xa1"
                        "b\xa0\xa1"
                        "a\xa0",
                        "\x82\xa1"
                        "a\xa0\xa1"
                        "a\xa0",
                        "\x80",
                        "\xc0",
                        "\x90",
                        "\x81\xa0\xa0",
                        "\x81\xa1\xff\xa0",
                        "\x81\xa1"
                        "a\xa1\xff",
                        "\x81\xa1"
                        "a\x01",
                        "\x81\xa1"
                        "a\xc0",
                        "\x81\x01\xa0",
                        "\x81\xa1"
                        "a\x80",
                        "\x81\xa1"
                        "a\x90",
                        "\x81\x80\xa0"});
  std::string nine = "\x89";
  for (char key = 'a'; key < 'j'; ++key)
    nine += std::string("\xa1") + key + "\xa0";
  check_refused(event_of(with_value(location_at, nine)), ErrorCode::too_large);
  check_refused(event_of(with_value(location_at, "\x81\xd9\x41" + std::string(65, 'k') + "\xa0")),
                ErrorCode::too_large);
}

TEST_CASE("event decoder: a value of another kind is refused in every field", "[wire][hostile]") {
  for (std::size_t at = 0; at <= data_at; ++at) {
    for (const std::string& value : {bytes("\xc0"),
                                     bytes("\xc2"),
                                     bytes("\xc3"),
                                     bytes("\x01"),
                                     bytes("\xff"),
                                     bytes("\x90"),
                                     bytes("\x80"),
                                     bytes("\xca\x00\x00\x00\x00"),
                                     bytes("\xc4\x00"),
                                     bytes("\xd4\x01\x02"),
                                     bytes("\xc7\x01\x05x"),
                                     bytes("\xc1"),
                                     bytes("\xa0"),
                                     bytes("\x81\xa1x\x01"),
                                     bytes("\x91\xa1x")}) {
      check_values_refused(at, {value});
    }
  }
}

TEST_CASE("event decoder: every key out of its place, twice or missing is refused",
          "[wire][hostile]") {
  const Pairs pairs = good();
  for (std::size_t at = 0; at < pairs.size(); ++at) {
    Pairs twice = pairs;
    twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(at), pairs[at]);
    check_refused(event_of(twice));
    Pairs at_end = pairs;
    at_end.push_back(pairs[at]);
    check_refused(event_of(at_end));
    for (std::size_t other = at + 1; other < pairs.size(); ++other) {
      Pairs swapped = pairs;
      std::swap(swapped[at], swapped[other]);
      INFO(at << " and " << other);
      check_refused(event_of(swapped));
    }
    Pairs missing = pairs;
    missing.erase(missing.begin() + static_cast<std::ptrdiff_t>(at));
    // Only these may be left out; and a durable event needs its subject.
    CHECK(is_taken(event_of(missing)) == (at == location_at || at == durable_at));
  }
  Pairs ephemeral = pairs;
  ephemeral.erase(ephemeral.begin() + location_at, ephemeral.begin() + data_at);
  CHECK(is_taken(event_of(ephemeral)));
}

TEST_CASE("event decoder: keys are texts in shortest form", "[wire][hostile]") {
  for (std::size_t at = 0; at <= data_at; ++at) {
    const std::string name = good()[at].first.substr(1);
    const char size = static_cast<char>(name.size());
    for (const std::string& key : {std::string("\xd9") + size + name,
                                   bytes("\xda\x00") + size + name,
                                   bytes("\xdb\x00\x00\x00") + size + name,
                                   std::string("\xc4") + size + name,
                                   bytes("\x01"),
                                   bytes("\xc0"),
                                   bytes("\x80"),
                                   bytes("\x90")}) {
      Pairs pairs = good();
      pairs[at].first = key;
      check_refused(event_of(pairs));
    }
  }
}

TEST_CASE("event decoder: unknown fields stand behind data, each key once and in shortest form",
          "[wire][hostile]") {
  for (std::size_t at = 0; at <= data_at; ++at) {
    Pairs pairs = good();
    pairs.insert(pairs.begin() + static_cast<std::ptrdiff_t>(at), {"\xa1x", "\x01"});
    check_refused(event_of(pairs));
  }
  for (const Pairs& unknown : {Pairs{{"\xa1x", "\x01"}, {"\xa1x", "\x01"}},
                               Pairs{{"\xd9\x01x", "\x01"}},
                               Pairs{{"\xa1x", "\xc1"}},
                               Pairs{{"\xa1y", "\x01"}, {"\xd9\x01x", "\x01"}},
                               Pairs{{"\x01", "\x01"}},
                               Pairs{{"\xa1x", "\x01"}, {"\xc0", "\x01"}},
                               Pairs{{"\xa1x", "\xd4\x01\x02"}},
                               Pairs{{"\xa1x", "\x91\xd4\x01\x02"}},
                               Pairs{{"\xa1x", "\xa1\xff"}},
                               Pairs{{"\xa1\xff", "\x01"}}}) {
    Pairs pairs = good();
    pairs.insert(pairs.end(), unknown.begin(), unknown.end());
    check_refused(event_of(pairs));
  }
}

TEST_CASE("event decoder: the map itself is in shortest form and is a map", "[wire][hostile]") {
  const std::string body = event_of(good()).substr(1);
  check_refused(bytes("\xde\x00\x07") + body);
  check_refused(bytes("\xdf\x00\x00\x00\x07") + body);
  for (const std::string& event : {bytes("\x80"),
                                   bytes("\xc0"),
                                   bytes("\x90"),
                                   bytes("\x01"),
                                   bytes("\xa1x"),
                                   bytes("\xc1"),
                                   bytes("\xd4\x01\x02"),
                                   bytes("\x91\x80"),
                                   bytes("\xff"),
                                   bytes("\xc4\x00")}) {
    check_refused(event);
  }
}
