#include "engine/store/segments/index.hpp"

#include "codec/base/check.hpp"

#include <algorithm>
#include <utility>

namespace runwire::segments {

std::uint64_t walk_start(const std::vector<Mark>& marks, Position after) {
  const auto behind = std::ranges::upper_bound(marks, after, {}, &Mark::after);
  return behind == marks.begin() ? segment_header_bytes : std::prev(behind)->offset;
}

void overlay(const Span& span, SubjectInfo& info) {
  if (span.owner) {
    info.origin = span.owner->origin;
    info.owner_term = span.owner->term;
  }
  if (span.places.empty() || span.last() <= info.last.value) return;
  if (info.first.value == 0) {
    info.first = {span.first};
    info.first_position = span.first_position;
  }
  info.state = span.state;
  info.local = span.local;
  info.last = {span.last()};
  info.last_position = span.last_position;
  info.time = span.time;
}

SegmentIndex::SegmentIndex(const SegmentHeader& header, std::shared_ptr<const DiskFile> file)
    : info_{.number = header.number,
            .base = header.base,
            .last = header.base,
            .bytes = segment_header_bytes,
            .term = header.term},
      file_(std::move(file)) {}

void SegmentIndex::begin_batch(const BatchHeader& header, std::uint64_t offset, std::uint64_t end) {
  const bool far = info_.marks.empty() || offset - info_.marks.back().offset >= mark_distance_bytes;
  // Two marks with one position would hide the control records between them, which nobody walks to.
  if (far) info_.marks.push_back({static_cast<std::uint32_t>(offset), {header.first.value - 1}});
  info_.last = header.last;
  info_.bytes = end;
  info_.term = std::max(info_.term, header.term);
}

void SegmentIndex::add(const RecordView& record, Place place) {
  const bool event = record.kind == RecordKind::event;
  if (!event && record.kind != RecordKind::owner) return;
  auto found = spans_.find(record.subject);
  if (found == spans_.end()) {
    found = spans_.emplace(std::string(record.subject), Span{}).first;
    names_.insert(found->first);
  }
  Span& span = found->second;
  if (!event) {
    Owner owner{.term = {record.number}};
    if (record.bytes.size() == owner.origin.bytes.size()) {
      std::ranges::copy(record.bytes, owner.origin.bytes.begin());
    }
    span.owner = owner;
    return;
  }
  if (span.places.empty()) {
    span.first = record.number;
    span.first_position = record.position;
  }
  check(span.first + span.places.size() == record.number, "a subject's sequences have no hole");
  span.places.push_back(place);
  span.state = record.state;
  span.local = record.local;
  span.last_position = record.position;
  span.time = record.time;
}

const Span* SegmentIndex::find(std::string_view subject) const {
  const auto found = spans_.find(subject);
  return found == spans_.end() ? nullptr : &found->second;
}

}  // namespace runwire::segments
