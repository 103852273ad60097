#pragma once

#include "codec/base/bytes.hpp"
#include "codec/base/ids.hpp"
#include "codec/base/result.hpp"
#include "codec/event/types.hpp"
#include "codec/wire/event_codec.hpp"
#include "codec/wire/messages.hpp"
#include "engine/ports.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runwire {

/// One event of a staged append: encoded, with time and sequence still to be written.
struct StagedEvent {
  EventId id{};
  TypeOf type{};
  bool durable = true;
  std::uint32_t offset = 0;  ///< Into Staged::bytes.
  std::uint32_t bytes = 0;
  wire::Stamps stamps{};
  std::uint32_t payload = no_payload;  ///< Index into Staged::payloads: reserved types only.

  static constexpr std::uint32_t no_payload = ~std::uint32_t{0};
};

/// An append as the caller's thread has made it: every check that needs no state is done, all
/// events are encoded into one allocation. A value that moves to the core, and with its batch to
/// the store.
struct Staged {
  std::string subject{};
  Bytes bytes{};
  std::vector<StagedEvent> events{};
  std::vector<Payload> payloads{};
  /// The event behind the last of `events` was refused on the caller's thread.
  std::optional<Error> refusal{};
  EventId refused_id{};
  wire::Level level = wire::Level::committed;
  std::optional<std::chrono::milliseconds> deadline{};
  std::optional<Sequence> expect{};
  std::optional<Epoch> epoch{};
  InstanceId client{};
  bool go_on = false;
  bool again = false;
  bool local = false;
  Respond respond{};

  [[nodiscard]] ByteView encoded(const StagedEvent& event) const {
    return ByteView(bytes).subspan(event.offset, event.bytes);
  }
};

/// Where the bus says what it did itself. Nobody else appends to it.
inline constexpr std::string_view bus_subject = "_runwire";

/// Validates, canonicalises and encodes. Never fails as a whole: what is refused is inside.
/// Threads: any. The subject `_runwire` is the bus's own: refused.
[[nodiscard]] std::unique_ptr<Staged> stage(wire::Append&& request, InstanceId client);

/// One event that the engine makes itself (a scope closed at recovery, a lease that lapsed).
[[nodiscard]] std::unique_ptr<Staged> stage_own(const std::string& subject,
                                                std::vector<Draft> drafts);

}  // namespace runwire
