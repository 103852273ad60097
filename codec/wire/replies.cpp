#include "codec/wire/messages.hpp"
#include "codec/wire/parts.hpp"
#include "codec/wire/rows.hpp"

#include <algorithm>
#include <array>

namespace runwire::wire {
namespace {

using Map = Writer::Map;

template <class Numbers>
void write_numbers(Map& map, std::string_view key, const Numbers& numbers) {
  Writer& list = map.key(key);
  list.list(numbers.size());
  for (const auto& number : numbers) {
    if constexpr (requires { number.value; }) {
      list.number(number.value);
    } else {
      list.number(number);
    }
  }
}

struct WriteAnswer {
  Map& map;

  void operator()(const NoReply&) const {}
  void operator()(const DetachReply&) const {}
  void operator()(const HelloReply& hello) const {
    map.text("server", hello.server);
    write_numbers(map, "versions", hello.versions);
    map.text("live", hello.live);
    map.text("acks", hello.acks);
    map.number("committed", hello.committed.value);
    map.number("acknowledged", hello.acknowledged.value);
    map.number("earliest", hello.earliest.value);
    map.number("heartbeat_ms", hello.heartbeat_ms);
    map.number("lease_ms", hello.lease_ms);
    map.number("ack_deadline_ms", hello.ack_deadline_ms);
    map.text("sync", hello.sync);
  }
  void operator()(const PageReply& page) const {
    if (page.subject) map.text("subject", *page.subject);
    write_span(map, page.span);
    map.number("next", page.next);
    map.number("latest", page.latest);
    map.number("acknowledged", page.acknowledged.value);
    map.number("committed", page.committed.value);
    map.number("earliest", page.earliest);
    map.boolean("end", page.end);
  }
  void operator()(const SubjectsReply& reply) const { write_subject_rows(map, reply); }
  void operator()(const AppendReply& reply) const {
    map.text_unless_empty("subject", reply.subject);
    map.number("taken", reply.taken);
    write_numbers(map, "seqs", reply.seqs);
    write_numbers(map, "positions", reply.positions);
    if (!reply.duplicates.empty()) write_numbers(map, "duplicates", reply.duplicates);
    map.text("level", reply.level == Level::committed ? "committed" : "acknowledged");
    map.text("sync", reply.sync);
  }
  void operator()(const AttachReply& attach) const {
    map.text("observer", attach.observer);
    map.number("epoch", attach.epoch.value);
    map.text("deliver", attach.deliver);
    map.text("acks", attach.acks);
    map.number("acked", attach.acked.value);
    map.number("ack_deadline_ms", attach.ack_deadline_ms);
    map.number("max_in_flight", attach.max_in_flight);
  }
  void operator()(const ClaimReply& claim) const {
    map.text("subject", claim.subject);
    map.number("epoch", claim.epoch.value);
    map.number("lease_ms", claim.lease_ms);
    map.number("last", claim.last.value);
    map.text("state", claim.state);
  }
  void operator()(const RenewReply& renew) const {
    map.number("lease_ms", renew.lease_ms);
    Writer& list = map.key("lost");
    list.list(renew.lost.size());
    for (const std::string& subject : renew.lost)
      list.text(subject);
  }
  void operator()(const ObserversReply& reply) const { write_observer_rows(map, reply); }
  void operator()(const SuspendReply& reply) const { map.number("acked", reply.acked.value); }
  void operator()(const StatusReply& reply) const { write_status(map, reply); }
};

HelloReply read_hello(Fields& in) {
  HelloReply hello;
  hello.server = in.text("server", agent_bytes_max);
  in.list("versions", {1, versions_max}, [&](const Value& item) {
    hello.versions.push_back(item.number());
  });
  hello.live = in.text("live", endpoint_bytes_max);
  hello.acks = in.text("acks", endpoint_bytes_max);
  hello.committed = Position{in.number("committed")};
  hello.acknowledged = Position{in.number("acknowledged")};
  hello.earliest = Position{in.number("earliest")};
  hello.heartbeat_ms = in.number("heartbeat_ms");
  hello.lease_ms = in.number("lease_ms");
  hello.ack_deadline_ms = in.number("ack_deadline_ms");
  hello.sync = in.text("sync", state_bytes_max);
  return hello;
}

PageReply read_page(Fields& in) {
  PageReply page;
  if (in.find("subject")) page.subject = read_subject(in, "subject");
  page.span = read_span(in);
  page.next = in.number("next");
  page.latest = in.number("latest");
  page.acknowledged = Position{in.number("acknowledged")};
  page.committed = Position{in.number("committed")};
  page.earliest = in.number("earliest");
  page.end = in.boolean_or("end", false);
  return page;
}

AppendReply read_append(Fields& in) {
  AppendReply reply;
  if (in.find("subject")) reply.subject = read_subject(in, "subject");
  constexpr std::size_t most = limits::append_events_max;
  reply.taken = in.number("taken", {0, most});
  in.list(
      "seqs", {0, most}, [&](const Value& item) { reply.seqs.push_back(Sequence{item.number()}); });
  in.list("positions", {0, most}, [&](const Value& item) {
    reply.positions.push_back(Position{item.number()});
  });
  in.list("duplicates", {0, most}, [&](const Value& item) {
    reply.duplicates.push_back(item.number());
  });
  reply.level = read_level(in, Level::committed);
  reply.sync = in.text_or("sync", state_bytes_max);
  if (reply.seqs.size() != reply.taken || reply.positions.size() != reply.taken) {
    in.refuse(ErrorCode::invalid, "taken", "does not fit `seqs` and `positions`");
  }
  return reply;
}

AttachReply read_attach(Fields& in) {
  AttachReply attach;
  attach.observer = read_observer(in);
  attach.epoch = Epoch{in.number("epoch")};
  attach.deliver = in.text("deliver", endpoint_bytes_max);
  attach.acks = in.text("acks", endpoint_bytes_max);
  attach.acked = Position{in.number("acked")};
  attach.ack_deadline_ms = in.number("ack_deadline_ms");
  attach.max_in_flight = in.number("max_in_flight");
  return attach;
}

ClaimReply read_claim(Fields& in) {
  ClaimReply claim;
  claim.subject = read_subject(in, "subject");
  claim.epoch = Epoch{in.number("epoch")};
  claim.lease_ms = in.number("lease_ms");
  claim.last = Sequence{in.number("last")};
  claim.state = in.text_or("state", state_bytes_max);
  return claim;
}

RenewReply read_renew(Fields& in) {
  RenewReply renew;
  renew.lease_ms = in.number("lease_ms");
  in.list("lost", {0, 1024}, [&](const Value& item) {
    renew.lost.emplace_back(item.text(limits::subject_bytes_max));
  });
  return renew;
}

SuspendReply read_suspend(Fields& in) {
  return {Position{in.number("acked")}};
}

/// `mark` is a key that only a body has: beside an error it tells a partial answer from none.
struct KnownAnswer {
  std::string_view name;
  std::string_view mark;
  Answer (*read)(Fields&);
};
constexpr std::array known_answers{
    KnownAnswer{"hello", "server", [](Fields& in) -> Answer { return read_hello(in); }},
    KnownAnswer{"read", "next", [](Fields& in) -> Answer { return read_page(in); }},
    KnownAnswer{"subjects", "subjects", [](Fields& in) -> Answer { return read_subject_rows(in); }},
    KnownAnswer{"append", "taken", [](Fields& in) -> Answer { return read_append(in); }},
    KnownAnswer{"attach", "deliver", [](Fields& in) -> Answer { return read_attach(in); }},
    KnownAnswer{"detach", "", [](Fields&) -> Answer { return DetachReply{}; }},
    KnownAnswer{"claim", "lease_ms", [](Fields& in) -> Answer { return read_claim(in); }},
    KnownAnswer{"renew", "lease_ms", [](Fields& in) -> Answer { return read_renew(in); }},
    KnownAnswer{
        "observers", "observers", [](Fields& in) -> Answer { return read_observer_rows(in); }},
    KnownAnswer{"suspend", "acked", [](Fields& in) -> Answer { return read_suspend(in); }},
    KnownAnswer{"resume", "acked", [](Fields& in) -> Answer { return read_suspend(in); }},
    KnownAnswer{"status", "status", [](Fields& in) -> Answer { return read_status(in); }},
};

Answer read_answer(Fields& in, const Reply& reply) {
  const auto* known = std::ranges::find(known_answers, reply.op, &KnownAnswer::name);
  const bool is_known = known != known_answers.end();
  if (reply.error && (!is_known || known->mark.empty() || !in.find(known->mark))) return NoReply{};
  if (is_known) return known->read(in);
  in.refuse(ErrorCode::unsupported, "op", "an answer to an unknown operation " + reply.op);
  return NoReply{};
}

}  // namespace

Bytes encode(const Reply& reply) {
  Bytes out;
  Writer writer(out);
  {
    Map map(writer);
    map.number("v", protocol_major);
    map.text("op", reply.op);
    map.number("rid", reply.rid);
    map.binary("log", reply.log.view());
    map.number("term", reply.term.value);
    if (reply.error) write_error(map, *reply.error);
    std::visit(WriteAnswer{map}, reply.answer);
  }
  return out;
}

Result<Reply> decode_reply(ByteView frame) {
  return decode_with<Reply>(frame, [](Fields& in) {
    Reply reply;
    reply.op = in.text("op", op_bytes_max);
    reply.rid = in.number("rid");
    reply.log = in.id<LogId>("log");
    reply.term = Term{in.number("term")};
    if (const std::optional<Value> error = in.find("error")) reply.error = read_error(*error);
    if (in.sound()) reply.answer = read_answer(in, reply);
    return reply;
  });
}

}  // namespace runwire::wire
