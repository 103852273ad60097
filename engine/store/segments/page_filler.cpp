#include "engine/store/segments/page_filler.hpp"

#include "engine/store/segments/scan.hpp"
#include "engine/store/segments/window.hpp"

#include <algorithm>
#include <utility>

namespace runwire::segments {
namespace {

// Two records of a subject that are no further apart than this are read in one call: copying the
// bytes between them costs less than the call.
constexpr std::uint64_t gap_bytes_max = 4096;

/// How many bytes from places[at] on to read in one call.
std::size_t stretch(const std::vector<Place>& places, std::size_t at) {
  const std::uint64_t start = places[at].offset;
  std::uint64_t end = start + places[at].bytes;
  for (++at; at < places.size(); ++at) {
    const Place& next_place = places[at];
    if (next_place.offset > end + gap_bytes_max) break;
    if (next_place.offset + next_place.bytes > start + Window::stretch_bytes) break;
    end = next_place.offset + std::uint64_t{next_place.bytes};
  }
  return end - start;
}

}  // namespace

void PageFiller::reserve(std::uint64_t bytes) {
  page_.events.reserve(std::min<std::uint64_t>(bytes, bounds_.bytes_max));
}

bool PageFiller::add(const RecordView& record) {
  const bool over = page_.entries.size() >= bounds_.events_max ||
                    page_.events.size() + record.bytes.size() > bounds_.bytes_max;
  if (over && !page_.empty()) {
    page_.more = true;
    return false;
  }
  append_bytes(page_.events, record.bytes);
  page_.entries.push_back({.position = record.position,
                           .seq = {record.number},
                           .bytes = static_cast<std::uint32_t>(record.bytes.size())});
  return true;
}

Status PageFiller::walk_batch(const LogPiece& piece,
                              Window& window,
                              std::uint64_t start,
                              const BatchHeader& header,
                              Position upto) {
  const std::uint64_t end = start + header.bytes();
  const auto broken = [&](std::uint64_t at) {
    return damaged(segment_name(piece.number), at, next_, header.last, "a record is damaged");
  };
  for (std::uint64_t at = start + batch_header_bytes; at < end && next_ <= upto;) {
    auto head = window.at(at, record_header_bytes);
    if (!head) return fail(std::move(head.error()));
    const std::size_t length = claimed_length(*head);
    if (length == 0 || at + length > end) return broken(at);
    if (claims_event(*head) && claimed_position(*head) >= next_) {
      auto bytes = window.at(at, length);
      if (!bytes) return fail(std::move(bytes.error()));
      const auto record = decode_record(*bytes);
      // The position says that none was passed over, whatever the skipped ones claimed.
      if (!record || record->position != next_) return broken(at);
      if (!add(*record)) return {};
      next_ = next(next_);
    }
    at += padded(length);
  }
  if (next_ <= std::min(header.last, upto)) return broken(start);
  return {};
}

Status PageFiller::walk(const LogPiece& piece,
                        const DiskFile& file,
                        Position after,
                        Position upto) {
  next_ = next(after);
  Window window(file, piece.end);
  for (std::uint64_t at = piece.start; at < piece.end && next_ <= upto && !full();) {
    auto bytes = window.at(at, batch_header_bytes);
    if (!bytes) return fail(std::move(bytes.error()));
    const auto header = decode_batch_header(*bytes, place_key(log_, piece.number, at));
    if (!header) {
      return damaged(segment_name(piece.number), at, next_, next_, "a batch's header is damaged");
    }
    if (header->last >= next_) {
      if (auto status = walk_batch(piece, window, at, *header, upto); !status) return status;
    }
    at += header->bytes();
  }
  if (!full() && next_ <= std::min(piece.last, upto)) {
    return damaged(segment_name(piece.number), piece.end, next_, piece.last, "events are missing");
  }
  return {};
}

Status PageFiller::pick(const PlacedRun& run,
                        const DiskFile& file,
                        std::string_view subject,
                        Position upto) {
  Window window(file, ~std::uint64_t{0});
  for (std::size_t at = 0; at < run.places.size(); ++at) {
    const Place& place = run.places[at];
    auto bytes = window.at(place.offset, place.bytes, stretch(run.places, at));
    if (!bytes) return fail(std::move(bytes.error()));
    const auto record = decode_record(*bytes);
    const bool right = record && record->kind == RecordKind::event && record->subject == subject &&
                       record->number == run.first + at;
    if (!right) {
      auto error = damaged(segment_name(run.segment), place.offset, {}, {}, "a record is damaged");
      error.error() = std::move(error.error()).with("subject", subject).with("seq", run.first + at);
      return error;
    }
    ended_ = record->position > upto;
    if (ended_ || !add(*record)) return {};
  }
  return {};
}

}  // namespace runwire::segments
