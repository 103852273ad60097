#include "codec/json/padded_parser.hpp"

#include <string>

namespace runwire::json {
namespace {

constexpr std::size_t kept_bytes_max = std::size_t{1} << 20;

}  // namespace

simdjson::error_code PaddedParser::open(std::string_view before,
                                        std::string_view text,
                                        std::string_view after,
                                        simdjson::ondemand::document& document) {
  const std::size_t size = before.size() + text.size() + after.size();
  if (room_.capacity() > kept_bytes_max && size < kept_bytes_max / 2) {
    room_ = std::string();  // One huge text must not hold its memory for ever.
    parser_ = simdjson::ondemand::parser();
  }
  room_.clear();
  room_.reserve(size + simdjson::SIMDJSON_PADDING);
  room_.append(before).append(text).append(after);
  room_.append(simdjson::SIMDJSON_PADDING, '\0');
  text_begin_ = room_.data() + before.size();
  return parser_.iterate(room_.data(), size, room_.size()).get(document);
}

PaddedParser& thread_parser() {
  thread_local PaddedParser parser;
  return parser;
}

}  // namespace runwire::json
