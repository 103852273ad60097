#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace runwire {

/// What the caller does next depends on the code. The strings of `to_string` are on the wire; the
/// numbers are in the C ABI. Neither is ever changed or reused.
enum class ErrorCode : std::uint16_t {
  invalid = 1,            ///< The input breaks a rule; a retry cannot help. Nothing changed.
  too_large = 2,          ///< Over a named bound. Nothing changed.
  lifecycle = 3,          ///< Not allowed in the run's present state. No number was used.
  not_owner = 4,          ///< The run is claimed by somebody else.
  fenced = 5,             ///< A newer epoch or owner term exists; stop, the facts name it.
  out_of_order = 6,       ///< An earlier append of the same subject was refused; go on from it.
  unexpected_seq = 7,     ///< `expect` did not match the subject's last sequence.
  conflict = 8,           ///< The id was used before, with other content.
  backpressure = 9,       ///< A bound is full; nothing was taken; retry the same call later.
  store_full = 10,        ///< No room on the disk; retry after space was freed.
  store_failed = 11,      ///< A write or sync failed; reopen before writing again.
  closed = 12,            ///< Shutting down, or already shut.
  observer_timeout = 13,  ///< Committed, but a required observer did not ack by the deadline.
  observer_refused = 14,  ///< Committed, but a required observer refused it.
  cursor_expired = 15,    ///< Older than what is kept; `recovery` is the oldest cursor that works.
  cursor_ahead = 16,      ///< Beyond what was ever committed here.
  cursor_foreign = 17,    ///< The cursor belongs to another log or owner.
  slow_consumer = 18,     ///< The reader fell behind its bound and was ended.
  unsupported = 19,       ///< Unknown version or operation; the facts name what is known.
  corrupt = 20,           ///< Stored bytes fail a check; never skipped silently.
  locked = 21,            ///< Another process holds the store or the path.
  not_found = 22,         ///< No such subject, observer or file.
  timed_out = 23,         ///< No answer in time; outcome unknown; retry with the same event id.
  unavailable = 24,       ///< No peer reachable at the endpoint.
  internal = 25,          ///< A call to the system failed in a way that has no other name.
};

[[nodiscard]] std::string_view to_string(ErrorCode code);
[[nodiscard]] std::optional<ErrorCode> error_code_from(std::string_view text);

/// A number or a text that helps to decide: `{"earliest", 4001}`, `{"observer", "audit"}`.
using FactValue = std::variant<std::uint64_t, std::string>;
struct Fact {
  std::string name{};
  FactValue value{};
  friend bool operator==(const Fact&, const Fact&) = default;
};

/// A refusal: a code to branch on, a sentence for a tired person, and the facts behind both.
struct Error {
  ErrorCode code{ErrorCode::internal};
  std::string message{};
  std::vector<Fact> facts{};

  /// Adds one fact and returns the error, so that a refusal is built where it is decided.
  Error with(std::string_view name, std::uint64_t value) &&;
  Error with(std::string_view name, std::string_view value) &&;

  [[nodiscard]] std::optional<std::uint64_t> number(std::string_view name) const;
  [[nodiscard]] std::optional<std::string_view> text(std::string_view name) const;
  friend bool operator==(const Error&, const Error&) = default;
};

/// `code: message (name value, ...)`, one line.
[[nodiscard]] std::string describe(const Error& error);

}  // namespace runwire
