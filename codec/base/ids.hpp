#pragma once

#include "codec/base/bytes.hpp"
#include "codec/base/clock.hpp"
#include "codec/base/result.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <string>
#include <string_view>

namespace runwire {

/// Sixteen bytes with a meaning. `EventId` is a UUIDv7 (RFC 9562), `LogId` and `InstanceId` are
/// random; the text form of all three is the canonical UUID.
template <class Tag>
struct Id16 {
  std::array<std::byte, 16> bytes{};

  [[nodiscard]] ByteView view() const { return bytes; }
  friend auto operator<=>(const Id16&, const Id16&) = default;
  friend bool operator==(const Id16&, const Id16&) = default;
};

using EventId = Id16<struct EventIdTag>;        ///< Made by whoever made the event.
using LogId = Id16<struct LogIdTag>;            ///< Made once, when a store is created.
using InstanceId = Id16<struct InstanceIdTag>;  ///< One run of one client process.

/// The canonical UUID, 36 lower-case characters.
[[nodiscard]] std::string uuid_text(ByteView sixteen);
/// Any case; `invalid` unless it is 8-4-4-4-12 hexadecimal digits.
[[nodiscard]] Result<std::array<std::byte, 16>> uuid_from_text(std::string_view text);

template <class Tag>
[[nodiscard]] std::string to_string(const Id16<Tag>& id) {
  return uuid_text(id.view());
}

/// Makes ids. An interface, so that a seeded simulation makes the same ones again.
/// Threads: as the implementation says; `SystemIds` is safe from any thread.
class IdSource {
 public:
  virtual ~IdSource() = default;
  virtual EventId event_id(WallMicros now) = 0;
  virtual LogId log_id() = 0;
  virtual InstanceId instance_id() = 0;
};

/// From the kernel's random source, drawn in blocks per thread.
class SystemIds final : public IdSource {
 public:
  EventId event_id(WallMicros now) override;
  LogId log_id() override;
  InstanceId instance_id() override;
};

}  // namespace runwire
