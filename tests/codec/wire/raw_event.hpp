#pragma once

#include "codec/wire/event_codec.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

/// An event put together from raw keys and values, so that a test can spoil any one of them.
namespace runwire::test {

using Pair = std::pair<std::string, std::string>;  ///< Key and value, encoded.
using Pairs = std::vector<Pair>;

template <std::size_t size>
std::string bytes(const char (&literal)[size]) {
  return std::string(literal, size - 1);
}

inline const std::string time_bytes = bytes("\xcf\x00\x00\x00\x00\x00\x00\x00\x05");
inline const std::string seq_bytes = bytes("\xcf\x00\x00\x00\x00\x00\x00\x00\x07");

/// The canonical event that every test below spoils in one place.
inline Pairs good() {
  return {{"\xa2id", "\xc4\x10" + std::string(16, 'i')},
          {"\xa4type", "\xa1t"},
          {"\xa4time", time_bytes},
          {"\xa8location",
           "\x82\xa1"
           "a\xa1"
           "1\xa1"
           "b\xa0"},
          {"\xa7subject", "\xa1s"},
          {"\xa7"
           "durable",
           "\x82\xa7version\x01\xa3seq" + seq_bytes},
          {"\xa4"
           "data",
           "\xa4null"}};
}

enum At : std::size_t { id_at, type_at, time_at, location_at, subject_at, durable_at, data_at };

inline std::string event_of(const Pairs& pairs) {
  std::string event;
  if (pairs.size() < 16) {
    event += static_cast<char>(0x80 + pairs.size());
  } else {
    event += '\xde';
    event += static_cast<char>(pairs.size() >> 8U);
    event += static_cast<char>(pairs.size() & 0xffU);
  }
  for (const auto& [key, value] : pairs)
    event += key + value;
  return event;
}

inline Pairs with_value(std::size_t at, std::string value) {
  Pairs pairs = good();
  pairs.at(at).second = std::move(value);
  return pairs;
}

inline bool is_taken(const std::string& event) {
  std::size_t offset = 0;
  const bool taken = wire::decode_event(as_bytes(event), offset).has_value();
  CHECK(offset == (taken ? event.size() : 0));
  return taken;
}

inline void check_refused(const std::string& event, ErrorCode code = ErrorCode::invalid) {
  std::size_t offset = 0;
  const auto view = wire::decode_event(as_bytes(event), offset);
  REQUIRE_FALSE(view);
  CHECK(view.error().code == code);
  CHECK(offset == 0);
  CHECK_FALSE(wire::decode_events(as_bytes(event)));
}

inline void check_values_refused(std::size_t at, const std::vector<std::string>& values) {
  for (std::size_t number = 0; number < values.size(); ++number) {
    INFO("field " << at << ", value " << number);
    check_refused(event_of(with_value(at, values[number])));
  }
}

}  // namespace runwire::test
