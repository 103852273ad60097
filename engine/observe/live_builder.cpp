#include "engine/observe/live_builder.hpp"

#include "codec/base/limits.hpp"

#include <utility>

namespace runwire {

LiveBuilder::LiveBuilder(LiveSink* sink, Position published)
    : sink_(sink), published_(published), acknowledged_(published) {
  piece_.prev = published;
}

void LiveBuilder::publish(const Numbered& event) {
  Subject& subject = *event.subject;
  const std::uint32_t index = index_of(subject);
  append(index, event.encoded, event.position, event.seq);
  if (sink_ != nullptr) piece_.subjects[index].state = event.state;
  subject.published = event.seq;
  --subject.unpublished;
  published_ = event.position;
  release_held(subject);
}

void LiveBuilder::ephemeral(Subject& subject, ByteView encoded) {
  if (subject.unpublished == 0) {
    append(index_of(subject), encoded, {}, {});
    return;
  }
  if (subject.held.size() >= limits::held_subject_events_max ||
      subject.held_bytes + encoded.size() > limits::held_subject_bytes_max ||
      held_bytes_ + encoded.size() > limits::held_bytes_max) {
    ++held_dropped_;
    return;
  }
  subject.held.push_back({.after = subject.last, .encoded = Bytes(encoded.begin(), encoded.end())});
  subject.held_bytes += encoded.size();
  held_bytes_ += encoded.size();
}

void LiveBuilder::ephemeral(ByteView encoded) {
  if (sink_ == nullptr) return;
  if (nameless_ == 0) {
    piece_.subjects.emplace_back();
    nameless_ = static_cast<std::uint32_t>(piece_.subjects.size());
  }
  append(nameless_ - 1, encoded, {}, {});
}

void LiveBuilder::release_held(Subject& subject) {
  while (!subject.held.empty() && subject.held.front().after <= subject.published) {
    const HeldEvent& event = subject.held.front();
    append(index_of(subject), event.encoded, {}, {});
    subject.held_bytes -= event.encoded.size();
    held_bytes_ -= event.encoded.size();
    subject.held.pop_front();
  }
}

std::uint32_t LiveBuilder::index_of(Subject& subject) {
  if (sink_ == nullptr) return 0;
  if (piece_.entries.size() >= piece_events_max || piece_.events.size() >= piece_bytes_max) offer();
  if (subject.live_batch == piece_number_) return subject.live_index;
  subject.live_batch = piece_number_;
  subject.live_index = static_cast<std::uint32_t>(piece_.subjects.size());
  piece_.subjects.push_back({.name = subject.name,
                             .prev = subject.published,
                             .state = subject.state,
                             .origin = subject.origin,
                             .owner_term = subject.owner_term});
  return subject.live_index;
}

void LiveBuilder::append(std::uint32_t subject, ByteView encoded, Position position, Sequence seq) {
  if (sink_ == nullptr) return;
  piece_.events.insert(piece_.events.end(), encoded.begin(), encoded.end());
  piece_.entries.push_back({.subject = subject,
                            .bytes = static_cast<std::uint32_t>(encoded.size()),
                            .position = position,
                            .seq = seq});
}

void LiveBuilder::flush() {
  if (!piece_.entries.empty()) offer();
}

void LiveBuilder::offer() {
  piece_.acknowledged = acknowledged_;
  const std::size_t count = piece_.entries.size();
  if (!sink_->offer(std::move(piece_))) dropped_ += count;
  piece_ = {};
  piece_.prev = published_;
  ++piece_number_;
  nameless_ = 0;
}

}  // namespace runwire
