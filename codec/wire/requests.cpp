#include "codec/event/types.hpp"
#include "codec/wire/messages.hpp"
#include "codec/wire/parts.hpp"

#include <algorithm>
#include <array>

namespace runwire::wire {
namespace {

using Map = Writer::Map;

// ---- Writing ------------------------------------------------------------------------------------

void write_draft(Writer& list, const Draft& draft) {
  Map map(list);
  map.binary("id", draft.id.view());
  map.text("type", draft.type);
  map.text("data", draft.data);
  if (draft.version != 1) map.number("version", draft.version);
  map.flag("ephemeral", !draft.durable);
  if (draft.location.empty()) return;
  Map location(map.key("location"));
  for (const auto& [key, value] : draft.location)
    location.text(key, value);
}

struct WriteBody {
  Map& map;

  void operator()(const Hello& hello) const { map.text_unless_empty("agent", hello.agent); }
  void operator()(const Read& read) const {
    if (read.subject) map.text("subject", *read.subject);
    map.number("after", read.after);
    write_level(map, read.level, Level::acknowledged);
    if (read.max_events != limits::page_events_max) map.number("max_events", read.max_events);
    if (read.max_bytes != limits::page_bytes_max) map.number("max_bytes", read.max_bytes);
    if (read.wait_ms != 0) map.number("wait_ms", read.wait_ms);
    if (read.log) map.binary("log", read.log->view());
  }
  void operator()(const Subjects& subjects) const {
    map.text_unless_empty("prefix", subjects.prefix);
    map.text_unless_empty("after", subjects.after);
    if (subjects.max != limits::subjects_page_max) map.number("max", subjects.max);
    map.flag("open", subjects.open);
  }
  void operator()(const Append& append) const {
    map.text_unless_empty("subject", append.subject);
    Writer& list = map.key("events");
    list.list(append.events.size());
    for (const Draft& draft : append.events)
      write_draft(list, draft);
    write_level(map, append.level, Level::committed);
    if (append.deadline_ms) map.number("deadline_ms", *append.deadline_ms);
    if (append.expect) map.number("expect", append.expect->value);
    if (append.epoch) map.number("epoch", append.epoch->value);
    map.flag("go_on", append.go_on);
    map.flag("again", append.again);
  }
  void operator()(const Attach& attach) const {
    map.text("observer", attach.observer);
    map.binary("instance", attach.instance.view());
    if (attach.log) map.binary("log", attach.log->view());
    if (attach.position) map.number("position", attach.position->value);
  }
  void operator()(const Detach& detach) const {
    map.text("observer", detach.observer);
    map.number("epoch", detach.epoch.value);
  }
  void operator()(const Claim& claim) const {
    map.text("subject", claim.subject);
    map.number("epoch", claim.epoch.value);
  }
  void operator()(const Renew& renew) const {
    Writer& list = map.key("claims");
    list.list(renew.claims.size());
    for (const auto& [subject, epoch] : renew.claims) {
      list.list(2);
      list.text(subject);
      list.number(epoch.value);
    }
  }
  void operator()(const Observers&) const {}
  void operator()(const Suspend& suspend) const { map.text("observer", suspend.observer); }
  void operator()(const Resume& resume) const { map.text("observer", resume.observer); }
  void operator()(const GetStatus&) const {}
};

// ---- Reading ------------------------------------------------------------------------------------

Hello read_hello(Fields& in) {
  return {std::string(in.text_or("agent", agent_bytes_max))};
}

Read read_read(Fields& in) {
  Read read;
  if (in.find("subject")) read.subject = read_subject(in, "subject");
  read.after = in.number("after");
  read.level = read_level(in, Level::acknowledged);
  read.max_events =
      in.number_or("max_events", limits::page_events_max, {1, limits::page_events_max});
  read.max_bytes = in.number_or("max_bytes", limits::page_bytes_max, {1, limits::page_bytes_max});
  read.wait_ms =
      in.number_or("wait_ms", 0, {0, static_cast<std::uint64_t>(limits::wait_max.count())});
  read.log = in.maybe_id<LogId>("log");
  return read;
}

Subjects read_subjects(Fields& in) {
  Subjects subjects;
  subjects.prefix = in.text_or("prefix", limits::subject_bytes_max);
  subjects.after = in.text_or("after", limits::subject_bytes_max);
  subjects.max = in.number_or("max", limits::subjects_page_max, {1, limits::subjects_page_max});
  subjects.open = in.boolean_or("open", false);
  return subjects;
}

void read_location(Fields& event, Draft& draft) {
  const std::optional<Value> value = event.find("location");
  if (!value) return;
  Fields pairs = value->map();
  if (!event.sound()) return;
  if (pairs.pairs() == 0) value->refuse(ErrorCode::invalid, "wants at least one entry");
  if (pairs.pairs() > limits::location_entries_max)
    value->refuse(ErrorCode::too_large, "over 8 entries");
  if (!event.sound()) return;
  pairs.for_each_pair([&](std::string_view key, const Value& text) {
    if (key.empty()) text.refuse(ErrorCode::invalid, "has an empty key");
    if (key.size() > limits::type_bytes_max)
      text.refuse(ErrorCode::too_large, "has a key over 64 bytes");
    draft.location.emplace_back(key, text.text(limits::location_value_bytes_max));
  });
}

Draft read_draft(const Value& value) {
  Fields in = value.map();
  Draft draft;
  draft.id = in.id<EventId>("id");
  draft.type = in.text("type", limits::type_bytes_max);
  if (in.sound()) in.judge("type", check_type(draft.type));
  draft.data = in.text("data", limits::data_bytes_max);
  draft.version = static_cast<std::uint32_t>(in.number_or("version", 1, {1, 0xffff'ffffU}));
  draft.durable = !in.boolean_or("ephemeral", false);
  read_location(in, draft);
  return draft;
}

void judge_append(Fields& in, const Append& append) {
  std::size_t bytes = 0;
  bool durable = false;
  for (const Draft& draft : append.events) {
    bytes += draft.data.size();
    durable = durable || draft.durable;
  }
  if (bytes > limits::append_bytes_max)
    in.refuse(ErrorCode::too_large, "events", "over 4 MiB of data");
  if (durable && append.subject.empty()) {
    in.refuse(ErrorCode::invalid, "subject", "is missing, and a durable event needs one");
  }
}

Append read_append(Fields& in) {
  Append append;
  if (in.find("subject")) append.subject = read_subject(in, "subject");
  in.list("events", {1, limits::append_events_max}, [&](const Value& item) {
    if (in.sound()) append.events.push_back(read_draft(item));
  });
  append.level = read_level(in, Level::committed);
  append.deadline_ms = in.maybe_number("deadline_ms", {1, 600'000});
  if (const auto expect = in.maybe_number("expect")) append.expect = Sequence{*expect};
  if (const auto epoch = in.maybe_number("epoch", {1})) append.epoch = Epoch{*epoch};
  append.go_on = in.boolean_or("go_on", false);
  append.again = in.boolean_or("again", false);
  if (in.sound()) judge_append(in, append);
  return append;
}

Attach read_attach(Fields& in) {
  Attach attach;
  attach.observer = read_observer(in);
  attach.instance = in.id<InstanceId>("instance");
  attach.log = in.maybe_id<LogId>("log");
  if (const auto position = in.maybe_number("position")) attach.position = Position{*position};
  return attach;
}

Detach read_detach(Fields& in) {
  Detach detach;
  detach.observer = read_observer(in);
  detach.epoch = Epoch{in.number("epoch")};
  return detach;
}

Claim read_claim(Fields& in) {
  Claim claim;
  claim.subject = read_subject(in, "subject");
  claim.epoch = Epoch{in.number("epoch", {1})};
  return claim;
}

Renew read_renew(Fields& in) {
  Renew renew;
  in.list("claims", {1, 1024}, [&](const Value& item) {
    if (item.items(2, 2) == 0) return;
    std::string subject;
    bool first = true;
    item.for_each([&](const Value& part) {
      if (!first) renew.claims.emplace_back(std::move(subject), Epoch{part.number({1})});
      if (first) subject = part.text(limits::subject_bytes_max);
      first = false;
    });
    if (in.sound()) in.judge("claims", check_subject(renew.claims.back().first));
  });
  return renew;
}

struct KnownOperation {
  std::string_view name;
  Operation (*read)(Fields&);
};
constexpr std::array known_operations{
    KnownOperation{"hello", [](Fields& in) -> Operation { return read_hello(in); }},
    KnownOperation{"read", [](Fields& in) -> Operation { return read_read(in); }},
    KnownOperation{"subjects", [](Fields& in) -> Operation { return read_subjects(in); }},
    KnownOperation{"append", [](Fields& in) -> Operation { return read_append(in); }},
    KnownOperation{"attach", [](Fields& in) -> Operation { return read_attach(in); }},
    KnownOperation{"detach", [](Fields& in) -> Operation { return read_detach(in); }},
    KnownOperation{"claim", [](Fields& in) -> Operation { return read_claim(in); }},
    KnownOperation{"renew", [](Fields& in) -> Operation { return read_renew(in); }},
    KnownOperation{"observers", [](Fields&) -> Operation { return Observers{}; }},
    KnownOperation{"suspend", [](Fields& in) -> Operation { return Suspend{read_observer(in)}; }},
    KnownOperation{"resume", [](Fields& in) -> Operation { return Resume{read_observer(in)}; }},
    KnownOperation{"status", [](Fields&) -> Operation { return GetStatus{}; }},
};

/// Who asked what, as far as it can be read, so that even a refusal finds its way.
void read_address(const Tape& tape, Addressed& addressed) {
  std::optional<Error> ignored;
  Fields fields(tape, 0, "header", ignored);
  const std::uint64_t rid = fields.number("rid");
  const std::string_view op = fields.text("op", op_bytes_max);
  // Without both of them the reply is the one for a request that could not be read.
  if (!ignored && !op.empty()) addressed = {rid, std::string(op)};
}

std::unexpected<Error> unknown_operation(std::string_view op) {
  std::string known;
  for (const KnownOperation& operation : known_operations) {
    known += (known.empty() ? "" : " ") + std::string(operation.name);
  }
  return fail(Error{ErrorCode::unsupported, "op: unknown operation " + std::string(op), {}}.with(
      "supported", known));
}

}  // namespace

Bytes encode(const Request& request) {
  Bytes out;
  Writer writer(out);
  {
    Map map(writer);
    map.number("v", protocol_major);
    map.text("op", name_of(request.operation));
    map.number("rid", request.rid);
    map.binary("client", request.client.view());
    std::visit(WriteBody{map}, request.operation);
  }
  return out;
}

Result<Request> decode_request(ByteView frame, Addressed& addressed) {
  addressed = Addressed{};
  Tape& tape = thread_tape();
  if (Status parsed = tape.read(frame); !parsed) return fail(parsed.error());
  read_address(tape, addressed);
  std::optional<Error> problem;
  Fields fields(tape, 0, "header", problem);
  if (Status major = check_major(fields); !major) return fail(major.error());
  Request request;
  const std::string_view op = fields.text("op", op_bytes_max);
  request.rid = fields.number("rid");
  request.client = fields.id<InstanceId>("client");
  if (problem) return fail(std::move(*problem));
  const auto* known = std::ranges::find(known_operations, op, &KnownOperation::name);
  if (known == known_operations.end()) return unknown_operation(op);
  request.operation = known->read(fields);
  if (problem) return fail(std::move(*problem));
  return request;
}

}  // namespace runwire::wire
