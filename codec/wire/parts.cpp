#include "codec/wire/parts.hpp"

#include "codec/event/types.hpp"

#include <algorithm>

namespace runwire::wire {
namespace {

void read_owners(Fields& fields, Span& span) {
  fields.list("owners", {0, span_events_max}, [&](const Value& item) {
    if (item.items(3, 3) == 0) return;
    OwnerRun run;
    int at = 0;
    item.for_each([&](const Value& part) {
      if (at == 0) run.count = part.number({1, span_events_max});
      if (at == 1) run.origin = LogId{part.sixteen()};
      if (at == 2) run.owner_term = OwnerTerm{part.number()};
      ++at;
    });
    span.owners.push_back(run);
  });
}

/// What a walk over the message relies on: places that grow and owners for every event.
void judge_span(Fields& fields, const Span& span) {
  if ((span.first.value == 0) != (span.last.value == 0) || span.last < span.first) {
    fields.refuse(ErrorCode::invalid, "first", "does not fit `last`");
  }
  if (span.positions.empty()) {
    if (span.first.value > 0 && span.last.value - span.first.value >= span.count) {
      fields.refuse(ErrorCode::invalid, "positions", "is missing where they are not consecutive");
    }
  } else {
    const bool grows =
        std::ranges::adjacent_find(span.positions, std::greater_equal{}) == span.positions.end();
    if (!grows || span.positions.size() > span.count || span.positions.front() != span.first ||
        span.positions.back() != span.last) {
      fields.refuse(ErrorCode::invalid, "positions", "do not fit `first`, `last` and `count`");
    }
  }
  if (span.owners.empty()) return;
  std::uint64_t owned = 0;
  for (const OwnerRun& run : span.owners)
    owned += run.count;
  if (owned != span.count) fields.refuse(ErrorCode::invalid, "owners", "do not add up to `count`");
}

}  // namespace

Status check_major(Fields& fields) {
  if (!fields.first_key_is("v"))
    return fail(ErrorCode::invalid, "header: the first key is not `v`");
  std::optional<Error> problem;
  const std::optional<Value> value = fields.find("v");
  if (value && value->number({protocol_major, protocol_major}) == protocol_major &&
      fields.sound()) {
    return {};
  }
  return fail(Error{ErrorCode::unsupported, "v: only version 1 is spoken here", {}}.with(
      "supported", std::to_string(protocol_major)));
}

void write_level(Writer::Map& map, Level level, Level unless) {
  if (level == unless) return;
  map.text("level", level == Level::committed ? "committed" : "acknowledged");
}

Level read_level(Fields& fields, Level fallback) {
  const std::optional<Value> value = fields.find("level");
  if (!value) return fallback;
  const std::string_view text = value->text(op_bytes_max);
  if (text == "acknowledged") return Level::acknowledged;
  if (text != "committed")
    fields.refuse(ErrorCode::invalid, "level", "wants acknowledged or committed");
  return Level::committed;
}

void write_span(Writer::Map& map, const Span& span) {
  map.number("count", span.count);
  map.number("first", span.first.value);
  map.number("last", span.last.value);
  if (!span.positions.empty()) {
    Writer& list = map.key("positions");
    list.list(span.positions.size());
    for (const Position position : span.positions)
      list.number(position.value);
  }
  if (span.owner_term) map.number("owner_term", span.owner_term->value);
  if (span.origin) map.binary("origin", span.origin->view());
  if (span.owners.empty()) return;
  Writer& list = map.key("owners");
  list.list(span.owners.size());
  for (const OwnerRun& run : span.owners) {
    list.list(3);
    list.number(run.count);
    list.binary(run.origin.view());
    list.number(run.owner_term.value);
  }
}

Span read_span(Fields& fields) {
  Span span;
  span.count = fields.number("count", {0, span_events_max});
  span.first = Position{fields.number_or("first", 0)};
  span.last = Position{fields.number_or("last", 0)};
  fields.list("positions", {0, span_events_max}, [&](const Value& item) {
    span.positions.push_back(Position{item.number({1})});
  });
  if (const auto owner_term = fields.maybe_number("owner_term"))
    span.owner_term = OwnerTerm{*owner_term};
  span.origin = fields.maybe_id<LogId>("origin");
  read_owners(fields, span);
  if (fields.sound()) judge_span(fields, span);
  return span;
}

void write_error(Writer::Map& map, const Error& error) {
  Writer::Map inner(map.key("error"));
  inner.text("code", to_string(error.code));
  inner.text("message", sentence(error.message, limits::error_message_bytes_max));
  if (error.facts.empty()) return;
  Writer::Map facts(inner.key("facts"));
  const std::size_t count = std::min(error.facts.size(), limits::error_facts_max);
  for (std::size_t at = 0; at < count; ++at) {
    const Fact& fact = error.facts[at];
    const auto same = [&](const Fact& earlier) { return earlier.name == fact.name; };
    const auto here = error.facts.begin() + static_cast<std::ptrdiff_t>(at);
    if (std::any_of(error.facts.begin(), here, same)) continue;  // A repeated key would be refused.
    facts.key(sentence(fact.name, fact_name_bytes_max)).fact(fact.value, fact_text_bytes_max);
  }
}

Error read_error(const Value& value) {
  Fields fields = value.map();
  Error error;
  // A code of a newer server says at least that it failed; its name stays in the facts.
  const std::string_view code = fields.text("code", op_bytes_max);
  error.code = error_code_from(code).value_or(ErrorCode::internal);
  error.message = fields.text_or("message", limits::error_message_bytes_max);
  if (!error_code_from(code)) error.facts.push_back({"code", std::string(code)});
  const std::optional<Value> facts = fields.find("facts");
  if (!facts) return error;
  Fields pairs = facts->map();
  if (pairs.pairs() > limits::error_facts_max)
    facts->refuse(ErrorCode::too_large, "over 16 entries");
  if (!fields.sound()) return error;
  pairs.for_each_pair([&](std::string_view name, const Value& fact) {
    if (name.size() > fact_name_bytes_max)
      fact.refuse(ErrorCode::too_large, "a name over 64 bytes");
    if (fact.is_text()) {
      error.facts.push_back({std::string(name), std::string(fact.text(fact_text_bytes_max))});
    } else {
      error.facts.push_back({std::string(name), fact.number()});
    }
  });
  return error;
}

std::string read_subject(Fields& fields, std::string_view key) {
  std::string subject(fields.text(key, limits::subject_bytes_max));
  if (fields.sound()) fields.judge(key, check_subject(subject));
  return subject;
}

std::string read_observer(Fields& fields) {
  std::string observer(fields.text("observer", limits::observer_name_bytes_max));
  if (fields.sound()) fields.judge("observer", check_observer_name(observer));
  return observer;
}

}  // namespace runwire::wire
