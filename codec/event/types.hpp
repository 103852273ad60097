#pragma once

#include "codec/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace runwire {

/// What an event type is about. `user` is everything outside the reserved roots.
enum class Root : std::uint8_t {
  user,
  run,
  turn,
  model,
  tool,
  interaction,
  text,
  reasoning,
  tool_input,
  stream,
  observer,
};

/// What happened to it. `none` for user types and for unknown types under a reserved root.
enum class Step : std::uint8_t {
  none,
  started,
  delta,
  ended,
  progress,
  completed,
  failed,
  cancelled,
};

struct TypeOf {
  Root root = Root::user;
  Step step = Step::none;

  /// Under a reserved root, but no type that this version knows: refused at commit, carried when
  /// it comes from a newer peer.
  [[nodiscard]] bool unknown_reserved() const { return root != Root::user && step == Step::none; }
  [[nodiscard]] bool terminal() const {
    return step == Step::completed || step == Step::failed || step == Step::cancelled;
  }
  [[nodiscard]] bool scope() const { return root >= Root::run && root <= Root::interaction; }
  [[nodiscard]] bool content() const { return root >= Root::text && root <= Root::tool_input; }
  /// Deltas and progress: never stored, no sequence.
  [[nodiscard]] bool ephemeral() const { return step == Step::delta || step == Step::progress; }
  friend bool operator==(const TypeOf&, const TypeOf&) = default;
};

/// Never fails: what it does not know is `user` or `unknown_reserved()`.
/// `stream.*` and `observer.*` have one known type so far: `observer.skipped` (step `ended`).
[[nodiscard]] TypeOf classify(std::string_view type);

/// 1..64 bytes of dotted lower case: `[a-z][a-z0-9_]*(\.[a-z0-9_]+)*`. `invalid`, `too_large`.
[[nodiscard]] Status check_type(std::string_view type);
/// 1..128 of `A-Z a-z 0-9 . _ ~ -`. `invalid`, `too_large`.
[[nodiscard]] Status check_subject(std::string_view subject);
/// Observer names: 1..64 of the same characters as a subject.
[[nodiscard]] Status check_observer_name(std::string_view name);

/// The identities of a reserved type's payload, read from its data; empty or 0 where the type has
/// none. `content_id` is `text_id` or `reasoning_id`; a tool.input's identity is its `call_id`.
struct Payload {
  std::uint64_t turn = 0;
  std::uint64_t index = 0;   ///< Of a delta, from 0.
  std::uint64_t deltas = 0;  ///< Of an `ended`: how many there were.
  std::string operation_id{};
  std::string call_id{};
  std::string interaction_id{};
  std::string content_id{};
  std::string name{};  ///< Of a tool or a tool.input: needed to close it.
  friend bool operator==(const Payload&, const Payload&) = default;
};

/// Reads and checks what DESIGN's table of payloads requires of `type`: a missing or ill-typed
/// required field is `invalid` and the message names it. User types give an empty Payload and
/// their data is not looked into. Pre: `data` is valid JSON.
[[nodiscard]] Result<Payload> read_payload(TypeOf type, std::string_view data);

/// Why a scope ended, as its terminal's data says: `problem.code` or `reason`, cut at
/// limits::identity_bytes_max; empty where it says nothing. Pre: `data` is valid JSON.
[[nodiscard]] std::string read_reason(std::string_view data);

}  // namespace runwire
