#pragma once

#include "bridge/play/json.hpp"

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace runwire::play {

/// The tokens of one operation by our names, from any provider's. Providers count cumulatively and
/// in several places: the last number of a field stands. A value.
class Usage {
 public:
  /// Takes what `usage` has; null, no object and unknown fields are nothing.
  void read(const Json* usage);
  /// Only what was said: `{}` where nothing was.
  [[nodiscard]] Json to_json() const;

 private:
  std::map<std::string, std::uint64_t> tokens_{};
};

/// A provider's reason to stop in our words: `stop`, `tool_calls`, `length`, `refusal`,
/// `content_filter`, `pause`; what is unknown stays as it is.
[[nodiscard]] std::string finish_of(std::string_view provider_reason);

}  // namespace runwire::play
