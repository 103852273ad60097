#include "codec/json/canonical.hpp"

#include <simdjson.h>

namespace runwire::json {

bool valid_utf8(std::string_view text) {
  return simdjson::validate_utf8(text.data(), text.size());
}

}  // namespace runwire::json
