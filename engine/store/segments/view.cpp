#include "engine/store/segments/view.hpp"

#include "codec/base/check.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace runwire::segments {
namespace {

RecordView as_view(const Record& record) {
  const bool event = record.kind == RecordKind::event;
  return {.kind = record.kind,
          .local = record.local,
          .state = record.state,
          .position = record.position,
          .number = event ? record.seq.value : record.number,
          .time = record.time,
          .subject = record.subject,
          .bytes = record.bytes};
}

}  // namespace

void View::start(std::vector<SegmentInfo> catalogued,
                 std::shared_ptr<SegmentIndex> active,
                 const LogId& log) {
  const std::scoped_lock lock(mutex_);
  log_ = log;
  catalogued_ = std::move(catalogued);
  last_.store(active->info().last.value, std::memory_order_release);
  live_.push_back({.index = std::move(active)});
}

void View::set_trimmed(Position trimmed) {
  const std::scoped_lock lock(mutex_);
  trimmed_ = trimmed;
}

void View::publish(const BatchHeader& header,
                   std::uint64_t offset,
                   std::span<const Record> records,
                   std::span<const Place> places) {
  const std::scoped_lock lock(mutex_);
  SegmentIndex& index = *live_.back().index;
  const std::uint64_t end = places.empty()
                                ? offset + batch_header_bytes
                                : offset + places.back().offset + padded(places.back().bytes);
  index.begin_batch(header, offset, end);
  for (std::size_t at = 0; at < records.size(); ++at) {
    const Place place{static_cast<std::uint32_t>(offset + places[at].offset), places[at].bytes};
    index.add(as_view(records[at]), place);
  }
  last_.store(header.last.value, std::memory_order_release);
}

void View::roll(const Checkpoint& at_end, std::shared_ptr<SegmentIndex> next_index) {
  const std::scoped_lock lock(mutex_);
  live_.back().at_end = at_end;
  live_.push_back({.index = std::move(next_index)});
}

std::vector<View::Live> View::uncatalogued() const {
  const std::scoped_lock lock(mutex_);
  return {live_.begin(), std::prev(live_.end())};
}

void View::catalogued(std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  check(live_.size() > 1 && live_.front().index->info().number == number, "catalogued in order");
  catalogued_.push_back(live_.front().index->info());
  live_.erase(live_.begin());
}

Position View::gone() const {
  const std::scoped_lock lock(mutex_);
  const Position base =
      catalogued_.empty() ? live_.front().index->info().base : catalogued_.front().base;
  return std::max(base, trimmed_);
}

Position View::trimmed() const {
  const std::scoped_lock lock(mutex_);
  return trimmed_;
}

std::uint64_t View::first_live() const {
  const std::scoped_lock lock(mutex_);
  return live_.front().index->info().number;
}

LogPiece View::log_piece(Position after) const {
  const auto piece = [after](const SegmentInfo& info) {
    return LogPiece{.number = info.number,
                    .start = walk_start(info.marks, after),
                    .end = info.bytes,
                    .last = info.last};
  };
  const std::scoped_lock lock(mutex_);
  const auto kept = std::ranges::upper_bound(catalogued_, after, {}, &SegmentInfo::last);
  if (kept != catalogued_.end()) return piece(*kept);
  for (const Live& live : live_) {
    if (live.index->info().last <= after) continue;
    LogPiece found = piece(live.index->info());
    found.file = live.index->file();
    return found;
  }
  check(false, "a position below the last is in some segment");
  return {};
}

View::SubjectRuns View::subject_runs(std::string_view subject,
                                     std::uint64_t after,
                                     std::size_t count_max) const {
  const std::scoped_lock lock(mutex_);
  SubjectRuns found{.catalogued_before = live_.front().index->info().number};
  for (const Live& live : live_) {
    const Span* span = live.index->find(subject);
    if (span == nullptr || span->places.empty()) continue;
    if (found.live_first == 0) found.live_first = span->first;
    if (span->last() <= after || count_max == 0) continue;
    const std::uint64_t from = std::max(span->first, after + 1);
    const auto begin = span->places.begin() + static_cast<std::ptrdiff_t>(from - span->first);
    const std::size_t count =
        std::min(count_max, static_cast<std::size_t>(span->places.end() - begin));
    found.runs.push_back({.run = {.segment = live.index->info().number,
                                  .first = from,
                                  .places = {begin, begin + static_cast<std::ptrdiff_t>(count)}},
                          .file = live.index->file()});
    count_max -= count;
  }
  return found;
}

bool View::overlay_subject(std::string_view subject, std::optional<SubjectInfo>& info) const {
  const std::scoped_lock lock(mutex_);
  for (const Live& live : live_) {
    const Span* span = live.index->find(subject);
    if (span == nullptr) continue;
    if (!info) info = SubjectInfo{.name = std::string(subject), .origin = log_};
    overlay(*span, *info);
  }
  return info.has_value();
}

std::vector<std::string> View::live_names(std::string_view prefix,
                                          std::string_view after,
                                          std::optional<std::string_view> upto,
                                          std::size_t count_max) const {
  std::set<std::string> merged;
  const std::scoped_lock lock(mutex_);
  for (const Live& live : live_) {
    const auto& names = live.index->names();
    auto at = after < prefix ? names.lower_bound(prefix) : names.upper_bound(after);
    for (std::size_t count = 0; at != names.end() && count < count_max; ++at, ++count) {
      if (!at->starts_with(prefix) || (upto && *at > *upto)) break;
      merged.emplace(*at);
    }
  }
  std::vector<std::string> result(merged.begin(), merged.end());
  if (result.size() > count_max) result.resize(count_max);
  return result;
}

}  // namespace runwire::segments
