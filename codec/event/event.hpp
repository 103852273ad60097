#pragma once

#include "codec/base/bytes.hpp"
#include "codec/base/clock.hpp"
#include "codec/base/ids.hpp"
#include "codec/base/strong.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runwire {

/// Present on an event that can be replayed.
struct Durable {
  std::uint32_t version = 1;  ///< Of the data's schema.
  Sequence seq{};             ///< In the event's subject; 0 until the engine has numbered it.
  friend bool operator==(const Durable&, const Durable&) = default;
};

/// Where something happened: text by text, `node` among them; ordered by key in encoded form.
using Location = std::vector<std::pair<std::string, std::string>>;

/// What an appender gives: everything of an event that is not the engine's to decide.
struct Draft {
  EventId id{};
  std::string type{};
  Location location{};
  std::uint32_t version = 1;
  bool durable = true;
  std::string data{};  ///< Any valid JSON text; the engine makes the canonical form.
};

/// One event, owned. The one shape everywhere: live, replayed, delivered, relayed, exported.
struct Event {
  EventId id{};
  std::string type{};
  WallMicros time = 0;
  Location location{};
  std::string subject{};  ///< Empty: none.
  std::optional<Durable> durable{};
  std::string data{};  ///< Canonical JSON (RFC 8785).
  Bytes unknown{};     ///< Fields of a newer peer: msgpack key-value pairs, as they came.
  friend bool operator==(const Event&, const Event&) = default;
};

/// One event inside a frame: nothing is copied. Valid while the frame's bytes are.
struct EventView {
  EventId id{};
  std::string_view type{};
  WallMicros time = 0;
  ByteView location{};  ///< The raw msgpack map; empty when absent.
  std::string_view subject{};
  std::optional<Durable> durable{};
  std::string_view data{};
  ByteView unknown{};
  ByteView encoded{};  ///< All bytes of this event.
};

}  // namespace runwire
