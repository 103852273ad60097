#include "codec/base/limits.hpp"
#include "codec/json/canonical.hpp"
#include "codec/json/rebuild.hpp"
#include "codec/json/recogniser.hpp"
#include "fuzz/require.hpp"

#include <nlohmann/json.hpp>

using namespace runwire;
using fuzz::require;

namespace {

/// The refusals of texts that another parser takes: our rules are stricter than its.
bool is_our_own_rule(const Error& error) {
  if (error.code == ErrorCode::too_large) return true;
  for (const std::string_view why : {"twice", "2^53-1"}) {
    if (error.message.find(why) != std::string::npos) return true;
  }
  return false;
}

/// That parser skips a byte order mark and stops at a zero byte; ours refuses both.
bool read_in_part(std::string_view text) {
  return text.starts_with("\xef\xbb\xbf") || text.find('\0') != std::string_view::npos;
}

void check_canonical(const std::string& canonical) {
  require(canonical.size() <= limits::data_bytes_max, "the result is within its bound");
  const auto again = json::canonicalise(canonical);
  require(again && *again == canonical, "the canonical form is its own canonical form");
  const auto judged = json::is_canonical(canonical);
  require(judged && *judged, "and is recognised as such");
  const auto built = json::rebuild(canonical);
  require(built && *built == canonical, "and both ways to it agree");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = as_text(fuzz::input(data, size));
  const auto canonical = json::canonicalise(text);
  const bool taken_elsewhere = nlohmann::json::accept(text);
  if (!canonical) {
    require(is_our_own_rule(canonical.error()) || read_in_part(text) || !taken_elsewhere,
            "two parsers agree on what is JSON");
    require(!json::seen_to_be_canonical(text), "what is refused is not seen to be canonical");
    return 0;
  }
  require(taken_elsewhere, "two parsers agree on what is JSON");
  require(nlohmann::json::parse(text) == nlohmann::json::parse(*canonical),
          "the value is the same");
  if (json::seen_to_be_canonical(text))
    require(*canonical == text, "only canonical text is seen to be");
  check_canonical(*canonical);
  return 0;
}
