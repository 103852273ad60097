#pragma once

#include "codec/wire/fields.hpp"
#include "codec/wire/messages.hpp"
#include "codec/wire/writer.hpp"

/// What several messages have in common, and the bounds of their texts and lists.
namespace runwire::wire {

inline constexpr std::size_t op_bytes_max = 32;
inline constexpr std::size_t agent_bytes_max = 128;
inline constexpr std::size_t endpoint_bytes_max = 256;
inline constexpr std::size_t state_bytes_max = 16;
inline constexpr std::size_t fact_name_bytes_max = 64;
inline constexpr std::size_t fact_text_bytes_max = 4096;
inline constexpr std::size_t status_entries_max = 4096;
inline constexpr std::size_t versions_max = 16;
/// Events of one message: a page and a delivery have 1,024, a live frame of 64 KiB fewer than
/// 2,048.
inline constexpr std::size_t span_events_max = limits::batch_events_max;

/// Reads the tape and the first key: `invalid` where it is not `v`, `unsupported` for another
/// major. The major is judged after the tape was read, so that a refusal can still be addressed.
[[nodiscard]] Status check_major(Fields& fields);

void write_level(Writer::Map& map, Level level, Level unless);
[[nodiscard]] Level read_level(Fields& fields, Level fallback);

void write_span(Writer::Map& map, const Span& span);
[[nodiscard]] Span read_span(Fields& fields);

void write_error(Writer::Map& map, const Error& error);
[[nodiscard]] Error read_error(const Value& value);

/// A text that the codec's own rule judges: subjects, observer names, types.
[[nodiscard]] std::string read_subject(Fields& fields, std::string_view key);
[[nodiscard]] std::string read_observer(Fields& fields);

/// For one-way messages and replies: tape, major, then `read(Fields&)`, and the first problem.
template <class Message, class Read>
[[nodiscard]] Result<Message> decode_with(ByteView frame, Read&& read) {
  Tape& tape = thread_tape();
  if (Status parsed = tape.read(frame); !parsed) return fail(parsed.error());
  std::optional<Error> problem;
  Fields fields(tape, 0, "header", problem);
  if (Status major = check_major(fields); !major) return fail(major.error());
  Message message = read(fields);
  if (problem) return fail(std::move(*problem));
  return message;
}

}  // namespace runwire::wire
