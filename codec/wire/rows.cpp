#include "codec/wire/rows.hpp"

#include "codec/wire/parts.hpp"

namespace runwire::wire {
namespace {

/// Retired observers are shown too, hence more than may be configured.
constexpr std::size_t observer_rows_max = 1024;

void write_row(Writer& list, const SubjectRow& row) {
  Writer::Map map(list);
  map.text("subject", row.subject);
  map.text("state", row.state);
  map.number("first", row.first.value);
  map.number("last", row.last.value);
  map.number("first_position", row.first_position.value);
  map.number("last_position", row.last_position.value);
  map.number("time", row.time);
  map.number("owner_term", row.owner_term.value);
  if (row.origin) map.binary("origin", row.origin->view());
  map.flag("claimed", row.claimed);
  map.number_unless_zero("epoch", row.epoch.value);
}

SubjectRow read_row(const Value& value) {
  Fields in = value.map();
  SubjectRow row;
  row.subject = read_subject(in, "subject");
  row.state = in.text("state", state_bytes_max);
  row.first = Sequence{in.number("first")};
  row.last = Sequence{in.number("last")};
  row.first_position = Position{in.number("first_position")};
  row.last_position = Position{in.number("last_position")};
  row.time = in.number("time");
  row.owner_term = OwnerTerm{in.number("owner_term")};
  row.origin = in.maybe_id<LogId>("origin");
  row.claimed = in.boolean_or("claimed", false);
  row.epoch = Epoch{in.number_or("epoch", 0)};
  return row;
}

void write_row(Writer& list, const ObserverRow& row) {
  Writer::Map map(list);
  map.text("observer", row.observer);
  map.text("state", row.state);
  map.number("epoch", row.epoch.value);
  map.number("acked", row.acked.value);
  map.number("owed", row.owed);
  map.number("in_flight", row.in_flight);
  map.number("redeliveries", row.redeliveries);
  map.number("refusals", row.refusals);
  map.number_unless_zero("skipped", row.skipped);
  map.number_unless_zero("owed_bytes", row.owed_bytes);
  map.number_unless_zero("oldest_ms", row.oldest_ms);
}

ObserverRow read_observer_row(const Value& value) {
  Fields in = value.map();
  ObserverRow row;
  row.observer = read_observer(in);
  row.state = in.text("state", state_bytes_max);
  row.epoch = Epoch{in.number("epoch")};
  row.acked = Position{in.number("acked")};
  row.owed = in.number("owed");
  row.in_flight = in.number("in_flight");
  row.redeliveries = in.number("redeliveries");
  row.refusals = in.number("refusals");
  row.skipped = in.number_or("skipped", 0);
  row.owed_bytes = in.number_or("owed_bytes", 0);
  row.oldest_ms = in.number_or("oldest_ms", 0);
  return row;
}

}  // namespace

void write_subject_rows(Writer::Map& map, const SubjectsReply& reply) {
  Writer& list = map.key("subjects");
  list.list(reply.subjects.size());
  for (const SubjectRow& row : reply.subjects)
    write_row(list, row);
  map.boolean("end", reply.end);
}

SubjectsReply read_subject_rows(Fields& fields) {
  SubjectsReply reply;
  fields.list("subjects", {0, limits::subjects_page_max}, [&](const Value& item) {
    if (fields.sound()) reply.subjects.push_back(read_row(item));
  });
  reply.end = fields.boolean_or("end", true);
  return reply;
}

void write_observer_rows(Writer::Map& map, const ObserversReply& reply) {
  Writer& list = map.key("observers");
  list.list(reply.observers.size());
  for (const ObserverRow& row : reply.observers)
    write_row(list, row);
}

ObserversReply read_observer_rows(Fields& fields) {
  ObserversReply reply;
  fields.list("observers", {0, observer_rows_max}, [&](const Value& item) {
    if (fields.sound()) reply.observers.push_back(read_observer_row(item));
  });
  return reply;
}

void write_status(Writer::Map& map, const StatusReply& reply) {
  Writer::Map status(map.key("status"));
  for (const Fact& fact : reply.status) {
    status.key(sentence(fact.name, fact_name_bytes_max)).fact(fact.value, fact_text_bytes_max);
  }
}

StatusReply read_status(Fields& fields) {
  StatusReply reply;
  const std::optional<Value> status = fields.need("status");
  if (!status) return reply;
  Fields pairs = status->map();
  if (pairs.pairs() > status_entries_max) status->refuse(ErrorCode::too_large, "over 4096 entries");
  if (!fields.sound()) return reply;
  pairs.for_each_pair([&](std::string_view name, const Value& value) {
    if (name.size() > fact_name_bytes_max)
      value.refuse(ErrorCode::too_large, "a name over 64 bytes");
    if (value.is_text()) {
      reply.status.push_back({std::string(name), std::string(value.text(fact_text_bytes_max))});
    } else {
      reply.status.push_back({std::string(name), value.number()});
    }
  });
  return reply;
}

}  // namespace runwire::wire
