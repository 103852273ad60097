#include "bridge/cli/event_line.hpp"

#include "codec/base/ids.hpp"
#include "codec/base/limits.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <simdjson.h>
#include <utility>

namespace runwire::cli {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::array<std::string_view, 4> passed_over{"seq", "position", "time", "log"};

Error wrong(std::string_view field, std::string_view what) {
  return Error{ErrorCode::invalid, std::string(field) + ": " + std::string(what), {}};
}

Status take_location(ondemand::value value, Location& location) {
  for (auto entry : value.get_object()) {
    if (location.size() >= limits::location_entries_max)
      return fail(wrong("location", "too many entries"));
    std::string key{std::string_view(entry.unescaped_key())};
    location.emplace_back(std::move(key), std::string(std::string_view(entry.value())));
  }
  return {};
}

Status take_field(std::string_view key, ondemand::value value, EventLine& line) {
  if (key == "type") {
    line.draft.type = std::string_view(value);
  } else if (key == "subject") {
    const std::string_view subject(value);
    if (!line.subject.empty() && line.subject != subject)
      return fail(wrong("subject", "another one than on the command line"));
    line.subject = subject;
  } else if (key == "data") {
    line.draft.data = std::string_view(simdjson::to_json_string(value));
  } else if (key == "ephemeral") {
    line.draft.durable = !bool(value);
  } else if (key == "version") {
    const auto version = std::uint64_t(value);
    if (version > std::numeric_limits<std::uint32_t>::max())
      return fail(wrong("version", "beyond 32 bits"));
    line.draft.version = static_cast<std::uint32_t>(version);
  } else if (key == "id") {
    auto id = uuid_from_text(std::string_view(value));
    if (!id) return fail(std::move(id.error()));
    line.draft.id.bytes = *id;
  } else if (key == "location") {
    return take_location(value, line.draft.location);
  } else if (std::ranges::find(passed_over, key) == passed_over.end()) {
    return fail(wrong(key,
                      "no such field; there are subject type data id location version "
                      "ephemeral"));
  }
  return {};
}

Result<EventLine> parse(std::string_view text, std::string_view subject) {
  EventLine line{.subject = std::string(subject), .draft = {.data = "{}"}};
  ondemand::parser parser;
  const simdjson::padded_string padded(text);
  ondemand::document document = parser.iterate(padded);
  std::string key;
  for (auto field : document.get_object()) {
    key = std::string_view(field.unescaped_key());
    try {
      if (auto taken = take_field(key, field.value(), line); !taken)
        return fail(std::move(taken.error()));
    } catch (const simdjson::simdjson_error& error) {
      return fail(wrong(key, error.what()));
    }
  }
  const char* rest = nullptr;  // the end is an error: there is no location behind it
  const bool ended = document.current_location().get(rest) == simdjson::OUT_OF_BOUNDS;
  if (!ended) return fail(ErrorCode::invalid, "more than one JSON object on a line");
  if (line.draft.type.empty()) return fail(wrong("type", "missing"));
  if (line.subject.empty()) return fail(wrong("subject", "missing, here and on the command line"));
  return line;
}

}  // namespace

Result<EventLine> event_of_line(std::string_view line, std::string_view subject) {
  try {
    return parse(line, subject);
  } catch (const simdjson::simdjson_error&) {
    return fail(ErrorCode::invalid, R"(a line is one JSON object: {"type": ..., "data": ...})");
  }
}

}  // namespace runwire::cli
