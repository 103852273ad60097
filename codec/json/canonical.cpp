#include "codec/json/canonical.hpp"

#include "codec/base/limits.hpp"
#include "codec/json/rebuild.hpp"
#include "codec/json/recogniser.hpp"

#include <utility>

namespace runwire::json {
namespace {

/// White space may make a text longer than its canonical form, but not without end.
Status check_size(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return {};
  return fail(Error{ErrorCode::too_large, "data: over the bytes of one event's data", {}}
                  .with("limit", bytes_max)
                  .with("bytes", text.size()));
}

}  // namespace

Result<std::string> canonicalise(std::string_view text) {
  if (auto status = check_size(text, limits::message_bytes_max); !status) {
    return fail(std::move(status.error()));
  }
  if (!seen_to_be_canonical(text)) return rebuild(text);
  if (auto status = check_size(text, limits::data_bytes_max); !status) {
    return fail(std::move(status.error()));
  }
  return std::string(text);
}

Result<bool> is_canonical(std::string_view text) {
  if (text.size() <= limits::data_bytes_max && seen_to_be_canonical(text)) return true;
  auto canonical = canonicalise(text);
  if (!canonical) return fail(std::move(canonical.error()));
  return *canonical == text;
}

}  // namespace runwire::json
