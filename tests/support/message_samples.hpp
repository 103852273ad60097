#pragma once

#include "codec/wire/messages.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace runwire::test {

/// Random valid messages of every kind, with optional fields present or absent by chance.
/// Replay: the same seed gives the same messages.
class Samples {
 public:
  explicit Samples(std::uint64_t seed) : random_(seed) {}

  std::vector<wire::Request> requests();
  std::vector<wire::Reply> replies();
  std::vector<wire::Delivery> deliveries();
  std::vector<wire::Ack> acks();
  std::vector<wire::Live> lives();

 private:
  bool chance() { return number(1) == 1; }
  std::uint64_t number(std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(0, most)(random_);
  }
  std::uint64_t exact() { return number(exact_integer_max) >> number(52); }
  std::uint64_t from_one() { return exact() | 1U; }
  template <class Id>
  Id id() {
    Id made;
    for (std::byte& byte : made.bytes)
      byte = static_cast<std::byte>(number(255));
    return made;
  }
  std::string subject();
  std::string words(std::size_t bytes_max);
  Draft draft();
  wire::Span span();
  wire::SubjectRow subject_row();

  std::mt19937_64 random_;
};

inline std::string Samples::subject() {
  static constexpr std::string_view letters = "ABCxyz019._~-";
  std::string made(1 + number(limits::subject_bytes_max - 1), 'a');
  for (char& letter : made)
    letter = letters[number(letters.size() - 1)];
  return made;
}

inline std::string Samples::words(std::size_t bytes_max) {
  std::string made;
  const std::size_t size = number(bytes_max);
  while (made.size() + 2 <= size)
    made += chance() ? "\xc3\xa9" : "w ";
  return made;
}

inline Draft Samples::draft() {
  Draft made{
      id<EventId>(), "acme.cache.hit", {}, 1, chance(), R"({"n":)" + std::to_string(exact()) + "}"};
  if (chance()) made.location = {{"node", words(256)}, {"workspace", ""}};
  if (chance()) made.version = static_cast<std::uint32_t>(1 + number(0xffff'fffeU));
  return made;
}

inline wire::Span Samples::span() {
  wire::Span made;
  made.count = 1 + number(40);
  const bool consecutive = chance();
  std::uint64_t at = from_one() >> 8U;
  const std::uint64_t durable = number(made.count);
  for (std::uint64_t index = 0; index < durable; ++index) {
    at += consecutive ? 1 : 1 + number(300);
    made.positions.push_back(Position{at});
  }
  if (durable > 0) {
    made.first = made.positions.front();
    made.last = made.positions.back();
  }
  if (consecutive) made.positions.clear();
  if (chance()) {
    made.owner_term = OwnerTerm{from_one()};
    if (chance()) made.origin = id<LogId>();
  } else if (chance()) {
    made.owners.push_back({1, id<LogId>(), OwnerTerm{from_one()}});
    if (made.count > 1) made.owners.push_back({made.count - 1, id<LogId>(), OwnerTerm{1}});
  }
  return made;
}

inline std::vector<wire::Request> Samples::requests() {
  std::vector<wire::Operation> operations;
  operations.emplace_back(wire::Hello{words(128)});
  wire::Read read;
  if (chance()) read.subject = subject();
  read.after = exact();
  read.level = chance() ? wire::Level::committed : wire::Level::acknowledged;
  read.max_events = 1 + number(1023);
  read.max_bytes = 1 + number((1U << 20U) - 1);
  read.wait_ms = number(30'000);
  if (chance()) read.log = id<LogId>();
  operations.emplace_back(read);
  operations.emplace_back(wire::Subjects{words(128), words(128), 1 + number(1023), chance()});
  wire::Append append;
  append.subject = subject();
  append.events.push_back(draft());
  for (std::uint64_t count = number(20); count > 0; --count)
    append.events.push_back(draft());
  if (chance()) append.level = wire::Level::acknowledged;
  if (chance()) append.deadline_ms = 1 + number(599'999);
  if (chance()) append.expect = Sequence{exact()};
  if (chance()) append.epoch = Epoch{from_one()};
  append.go_on = chance();
  append.again = chance();
  operations.emplace_back(append);
  wire::Attach attach{"audit", id<InstanceId>(), {}, {}};
  if (chance()) attach.log = id<LogId>();
  if (chance()) attach.position = Position{exact()};
  operations.emplace_back(attach);
  operations.emplace_back(wire::Detach{"audit", Epoch{exact()}});
  operations.emplace_back(wire::Claim{subject(), Epoch{from_one()}});
  operations.emplace_back(wire::Renew{{{subject(), Epoch{from_one()}}, {subject(), Epoch{1}}}});
  operations.emplace_back(wire::Observers{});
  operations.emplace_back(wire::Suspend{"audit"});
  operations.emplace_back(wire::Resume{"audit"});
  operations.emplace_back(wire::GetStatus{});
  std::vector<wire::Request> made;
  for (wire::Operation& operation : operations) {
    made.push_back({exact(), id<InstanceId>(), std::move(operation)});
  }
  return made;
}

inline wire::SubjectRow Samples::subject_row() {
  wire::SubjectRow row;
  row.subject = subject();
  row.state = "open";
  row.first = Sequence{exact()};
  row.last = Sequence{exact()};
  row.first_position = Position{exact()};
  row.last_position = Position{exact()};
  row.time = exact();
  row.owner_term = OwnerTerm{from_one()};
  if (chance()) row.origin = id<LogId>();
  row.claimed = chance();
  row.epoch = Epoch{chance() ? exact() : 0};
  return row;
}

inline std::vector<wire::Reply> Samples::replies() {
  std::vector<std::pair<std::string, wire::Answer>> answers;
  answers.emplace_back("hello",
                       wire::HelloReply{words(128),
                                        {1, 2},
                                        "tcp://127.0.0.1:1",
                                        "ipc:///a",
                                        Position{exact()},
                                        Position{exact()},
                                        Position{exact()},
                                        exact(),
                                        exact(),
                                        exact(),
                                        "always"});
  wire::PageReply page{
      {}, span(), exact(), exact(), Position{exact()}, Position{exact()}, exact(), chance()};
  if (chance()) page.subject = subject();
  answers.emplace_back("read", page);
  answers.emplace_back("subjects", wire::SubjectsReply{{subject_row(), subject_row()}, chance()});
  answers.emplace_back("append",
                       wire::AppendReply{subject(),
                                         2,
                                         {Sequence{exact()}, Sequence{0}},
                                         {Position{exact()}, Position{0}},
                                         {0, 1},
                                         wire::Level::acknowledged,
                                         "none"});
  answers.emplace_back(
      "attach",
      wire::AttachReply{
          "audit", Epoch{exact()}, "ipc:///d", "ipc:///a", Position{exact()}, exact(), exact()});
  answers.emplace_back("detach", wire::DetachReply{});
  answers.emplace_back(
      "claim", wire::ClaimReply{subject(), Epoch{exact()}, exact(), Sequence{exact()}, "open"});
  answers.emplace_back("renew", wire::RenewReply{exact(), {subject()}});
  answers.emplace_back("observers",
                       wire::ObserversReply{{{"audit",
                                              "attached",
                                              Epoch{exact()},
                                              Position{exact()},
                                              exact(),
                                              exact(),
                                              exact(),
                                              exact(),
                                              number(1),
                                              number(1),
                                              exact()}}});
  answers.emplace_back("suspend", wire::SuspendReply{Position{exact()}});
  answers.emplace_back("resume", wire::SuspendReply{Position{exact()}});
  wire::StatusReply status;
  for (std::uint64_t at = 0; at < 20; ++at)
    status.status.push_back({"key" + std::to_string(at), exact()});
  status.status.push_back({"text", words(4096)});
  answers.emplace_back("status", status);
  answers.emplace_back("error", wire::NoReply{});
  std::vector<wire::Reply> made;
  for (auto& [op, answer] : answers) {
    wire::Reply reply{exact(), op, id<LogId>(), Term{exact()}, {}, std::move(answer)};
    const bool has_body = op != "error" && op != "detach";
    if (!has_body) reply.answer = wire::NoReply{};
    if (!has_body || chance()) {
      reply.error = Error{
          ErrorCode::cursor_expired, words(4096), {{"earliest", exact()}, {"log", words(64)}}};
    }
    made.push_back(std::move(reply));
  }
  return made;
}

inline std::vector<wire::Delivery> Samples::deliveries() {
  using Kind = wire::Delivery::Kind;
  std::vector<wire::Delivery> made;
  for (const Kind kind : {Kind::deliver, Kind::heartbeat, Kind::fenced}) {
    wire::Delivery delivery{
        kind, "audit", id<LogId>(), Term{exact()}, Epoch{exact()}, {}, false, {}, {}, {}};
    if (kind == Kind::deliver) delivery.span = span();
    if (kind == Kind::deliver) delivery.again = chance();
    if (kind == Kind::deliver && chance()) delivery.prev = Position{exact()};
    if (kind == Kind::heartbeat) delivery.acked = Position{exact()};
    if (kind == Kind::fenced) delivery.current = Epoch{exact()};
    made.push_back(std::move(delivery));
  }
  return made;
}

inline std::vector<wire::Ack> Samples::acks() {
  return {{"audit", id<LogId>(), Term{exact()}, Epoch{exact()}, Position{exact()}, false, ""},
          {"audit",
           id<LogId>(),
           Term{exact()},
           Epoch{exact()},
           Position{from_one()},
           true,
           words(4096)}};
}

inline std::vector<wire::Live> Samples::lives() {
  using Kind = wire::Live::Kind;
  std::vector<wire::Live> made;
  for (const Kind kind : {Kind::events, Kind::beacon, Kind::heartbeat}) {
    wire::Live live;
    live.kind = kind;
    live.log = id<LogId>();
    live.term = Term{exact()};
    live.counter = exact();
    live.acknowledged = Position{exact()};
    if (kind != Kind::heartbeat && chance()) live.subject = subject();
    if (kind == Kind::events) {
      live.span = span();
      live.prev = exact();
    }
    if (kind == Kind::beacon) {
      live.last = exact();
      live.span.owner_term = OwnerTerm{from_one()};
      if (chance()) live.state = "open";
    }
    made.push_back(std::move(live));
  }
  return made;
}

}  // namespace runwire::test
