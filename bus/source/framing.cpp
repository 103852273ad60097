#include "bus/source/framing.hpp"

#include "codec/base/limits.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace runwire::bus {
namespace {

/// The frame that is being filled for one topic.
struct Stream {
  Topic* topic = nullptr;
  std::uint64_t prev = 0;   ///< The place before the frame's first event.
  std::uint64_t place = 0;  ///< The place of its last durable event.
  wire::Span span{};
  Bytes events{};
};

std::optional<LogId> foreign(const LogId& origin, const LogId& log) {
  if (origin == log || origin == LogId{}) return std::nullopt;
  return origin;
}

void note_owner(const LogIdentity& identity, const LiveSubject& subject, wire::Span& span) {
  const LogId origin = foreign(subject.origin, identity.log).value_or(identity.log);
  if (!span.owners.empty() && span.owners.back().origin == origin &&
      span.owners.back().owner_term == subject.owner_term) {
    ++span.owners.back().count;
    return;
  }
  span.owners.push_back({.count = 1, .origin = origin, .owner_term = subject.owner_term});
}

bool all_ours(const LogIdentity& identity, const wire::Span& span) {
  return span.owners.size() == 1 && span.owners[0].origin == identity.log &&
         span.owners[0].owner_term == OwnerTerm{1};
}

void finish_span(const LogIdentity& identity, wire::Span& span) {
  if (!span.positions.empty()) {
    span.first = span.positions.front();
    span.last = span.positions.back();
    if (span.last.value - span.first.value + 1 == span.positions.size()) span.positions.clear();
  }
  if (all_ours(identity, span)) span.owners.clear();
}

class BatchCutter {
 public:
  BatchCutter(const LogIdentity& identity, const LiveBatch& batch, std::vector<Outgoing>& out)
      : identity_(identity), batch_(batch), out_(out) {}

  void add(Stream& stream, const LiveEntry& entry, ByteView bytes) {
    if (!stream.events.empty() && stream.events.size() + bytes.size() > limits::live_frame_bytes)
      cut(stream);
    note(stream, entry);
    stream.events.insert(stream.events.end(), bytes.begin(), bytes.end());
  }

  /// Everything of an entry but its bytes.
  void note(Stream& stream, const LiveEntry& entry) {
    ++stream.span.count;
    const bool whole_log = stream.topic->kind == Topic::Kind::log;
    if (whole_log) note_owner(identity_, batch_.subjects[entry.subject], stream.span);
    if (entry.position == Position{}) return;
    stream.span.positions.push_back(entry.position);
    stream.place = whole_log ? entry.position.value : entry.seq.value;
  }

  void cut(Stream& stream) {
    if (stream.span.count == 0) return;
    Topic& topic = *stream.topic;
    finish_span(identity_, stream.span);
    wire::Live live{.kind = wire::Live::Kind::events,
                    .log = identity_.log,
                    .term = identity_.term,
                    .counter = ++topic.counter,
                    .acknowledged = batch_.acknowledged,
                    .span = std::move(stream.span),
                    .prev = stream.prev};
    if (topic.kind == Topic::Kind::subject) {
      live.subject = std::string(topic.subject());
      live.span.owner_term = topic.owner_term;
      live.span.origin = foreign(topic.origin, identity_.log);
    }
    const auto count = static_cast<std::size_t>(live.span.count);
    out_.push_back({topic.name, wire::encode(live), std::move(stream.events), count});
    topic.last = std::max(topic.last, stream.place);
    stream.prev = stream.place;
    stream.span = {};
    stream.events = {};
  }

 private:
  const LogIdentity& identity_;
  const LiveBatch& batch_;
  std::vector<Outgoing>& out_;
};

/// One stream for each subject of the batch; those that nobody reads have no topic.
std::vector<Stream> streams_of(const LiveBatch& batch, const TopicTable& topics, bool& any) {
  std::vector<Stream> streams(batch.subjects.size());
  for (std::size_t at = 0; at < streams.size(); ++at) {
    const LiveSubject& subject = batch.subjects[at];
    Topic* topic = topics.find(subject.name);
    if (topic == nullptr) continue;
    any = true;
    topic->state = subject.state;
    topic->origin = subject.origin;
    topic->owner_term = subject.owner_term;
    streams[at].topic = topic;
    streams[at].prev = streams[at].place = subject.prev.value;
  }
  return streams;
}

void cut_subjects(BatchCutter& cutter, const LiveBatch& batch, std::vector<Stream>& streams) {
  std::size_t offset = 0;
  for (const LiveEntry& entry : batch.entries) {
    Stream& stream = streams[entry.subject];
    if (stream.topic != nullptr) {
      cutter.add(stream, entry, ByteView(batch.events).subspan(offset, entry.bytes));
    }
    offset += entry.bytes;
  }
  for (Stream& stream : streams) {
    if (stream.topic != nullptr) cutter.cut(stream);
  }
}

void cut_log(BatchCutter& cutter, LiveBatch& batch, Topic& topic) {
  Stream stream{.topic = &topic, .prev = batch.prev.value, .place = batch.prev.value};
  if (batch.events.size() <= limits::live_frame_bytes) {
    for (const LiveEntry& entry : batch.entries)
      cutter.note(stream, entry);
    stream.events = std::move(batch.events);  // the last use of them: no copy
  } else {
    std::size_t offset = 0;
    for (const LiveEntry& entry : batch.entries) {
      cutter.add(stream, entry, ByteView(batch.events).subspan(offset, entry.bytes));
      offset += entry.bytes;
    }
  }
  cutter.cut(stream);
}

}  // namespace

void frame_batch(const LogIdentity& identity,
                 LiveBatch&& batch,
                 TopicTable& topics,
                 BeaconSchedule& beacons,
                 Instant now,
                 std::vector<Outgoing>& out) {
  BatchCutter cutter(identity, batch, out);
  bool any = false;
  std::vector<Stream> streams = streams_of(batch, topics, any);
  if (any) cut_subjects(cutter, batch, streams);
  for (const Stream& stream : streams) {
    if (stream.topic != nullptr && stream.topic->kind == Topic::Kind::subject)
      beacons.touched(*stream.topic, now);
  }
  if (Topic* log = topics.log()) {
    cut_log(cutter, batch, *log);
    beacons.touched(*log, now);
  }
}

Outgoing frame_beacon(const LogIdentity& identity, Topic& topic, Position acknowledged) {
  wire::Live live{.kind = wire::Live::Kind::beacon,
                  .log = identity.log,
                  .term = identity.term,
                  .counter = ++topic.counter,
                  .acknowledged = acknowledged,
                  .last = topic.last};
  if (topic.kind == Topic::Kind::subject) {
    live.subject = std::string(topic.subject());
    live.span.owner_term = topic.owner_term;
    live.span.origin = foreign(topic.origin, identity.log);
    live.state = to_string(topic.state);
  }
  return {topic.name, wire::encode(live), {}, 0};
}

Outgoing frame_heartbeat(const LogIdentity& identity, Topic& topic, Position acknowledged) {
  const wire::Live live{.kind = wire::Live::Kind::heartbeat,
                        .log = identity.log,
                        .term = identity.term,
                        .counter = ++topic.counter,
                        .acknowledged = acknowledged};
  return {topic.name, wire::encode(live), {}, 0};
}

}  // namespace runwire::bus
