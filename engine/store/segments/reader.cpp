#include "engine/store/segments/reader.hpp"

#include "engine/store/segments/page_filler.hpp"
#include "engine/store/segments/scan.hpp"
#include "engine/store/segments/window.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace runwire::segments {
namespace {

std::unexpected<Error> expired(std::uint64_t requested,
                               std::uint64_t earliest,
                               std::uint64_t latest) {
  return fail(Error{ErrorCode::cursor_expired, "what follows this cursor is no longer kept", {}}
                  .with("requested", requested)
                  .with("earliest", earliest)
                  .with("latest", latest)
                  .with("recovery", earliest - 1));
}

}  // namespace

Result<Page> Reader::read_log(Position after, Position upto, PageBounds bounds) const {
  const Position last = view_.last();
  upto = std::min(upto, last);
  const Position gone = view_.gone();
  if (after < gone) return expired(after.value, gone.value + 1, last.value);
  PageFiller filler(bounds, log_);
  while (after < upto && !filler.full()) {
    const LogPiece piece = view_.log_piece(after);
    std::shared_ptr<const DiskFile> file = piece.file;
    if (file == nullptr) {
      auto opened = files_.get(piece.number);
      if (!opened) return fail(std::move(opened.error()));
      file = std::move(*opened);
    }
    filler.reserve(piece.end - piece.start);
    if (auto status = filler.walk(piece, *file, after, upto); !status) {
      if (filler.ends_before_damage()) break;
      return fail(std::move(status.error()));
    }
    after = piece.last;
  }
  return filler.take();
}

Result<std::vector<LiveRun>> Reader::runs_of(std::string_view subject,
                                             std::uint64_t after,
                                             std::size_t count_max) const {
  View::SubjectRuns live = view_.subject_runs(subject, after, count_max);
  if (live.live_first != 0 && live.live_first <= after + 1) return std::move(live.runs);
  auto kept = catalogue_.places(subject, after, live.catalogued_before, count_max);
  if (!kept) return fail(std::move(kept.error()));
  std::vector<LiveRun> runs;
  std::size_t count = 0;
  for (PlacedRun& run : *kept) {
    count += run.places.size();
    auto file = files_.get(run.segment);
    if (!file) return fail(std::move(file.error()));
    runs.push_back({.run = std::move(run), .file = std::move(*file)});
  }
  if (count < count_max) std::ranges::move(live.runs, std::back_inserter(runs));
  return runs;
}

Result<Page> Reader::read_subject(std::string_view subject,
                                  Sequence after,
                                  Position upto,
                                  PageBounds bounds) const {
  upto = std::min(upto, view_.last());
  bounds.events_max = std::min(bounds.events_max, std::size_t{1} << 20);
  PageFiller filler(bounds, log_);
  // One more than fits, so that the page knows whether it ended at a bound.
  const std::size_t wanted = std::max(bounds.events_max, bounds.events_max + 1);
  auto runs = runs_of(subject, after.value, wanted);
  if (!runs) return fail(std::move(runs.error()));
  const bool whole = !runs->empty() && runs->front().run.first == after.value + 1;
  if (!runs->empty() && (!whole || view_.trimmed().value > 0)) {
    auto info = find_subject(subject);
    if (!info) return fail(std::move(info.error()));
    if (*info && next(after) < (*info)->first) {
      return expired(after.value, (*info)->first.value, (*info)->last.value);
    }
  }
  std::uint64_t bytes = 0;
  std::uint64_t expected = after.value + 1;
  for (const LiveRun& found : *runs) {
    for (const Place& place : found.run.places)
      bytes += place.bytes;
  }
  filler.reserve(bytes);
  for (const LiveRun& found : *runs) {
    if (found.run.first != expected) {
      return fail(Error{ErrorCode::corrupt, "the catalogue has a hole; remove catalogue.db", {}}
                      .with("subject", subject)
                      .with("seq", expected));
    }
    if (auto status = filler.pick(found.run, *found.file, subject, upto); !status) {
      if (filler.ends_before_damage()) break;
      return fail(std::move(status.error()));
    }
    if (filler.full() || filler.ended()) break;
    expected += found.run.places.size();
  }
  return filler.take();
}

Result<PageEntry> Reader::first_kept(const SubjectInfo& info) const {
  const Position trimmed = view_.gone();
  std::uint64_t after = info.first.value - 1;
  while (after < info.last.value) {
    auto runs = runs_of(info.name, after, limits::page_events_max);
    if (!runs) return fail(std::move(runs.error()));
    if (runs->empty()) break;
    for (const LiveRun& found : *runs) {
      Window window(*found.file, ~std::uint64_t{0});
      for (std::size_t at = 0; at < found.run.places.size(); ++at) {
        const Place& place = found.run.places[at];
        auto bytes = window.at(place.offset, place.bytes, place.bytes);
        if (!bytes) return fail(std::move(bytes.error()));
        const auto record = decode_record(*bytes);
        if (!record)
          return damaged(segment_name(found.run.segment), place.offset, {}, {}, "a record");
        if (record->position > trimmed) {
          return PageEntry{.position = record->position, .seq = {found.run.first + at}};
        }
      }
      after = found.run.first + found.run.places.size() - 1;
    }
  }
  return PageEntry{.position = next(info.last_position), .seq = next(info.last)};
}

Status Reader::settle_first(SubjectInfo& info) const {
  if (info.first.value == 0 || info.first_position > view_.gone()) return {};
  auto first = first_kept(info);
  if (!first) return fail(std::move(first.error()));
  info.first = first->seq;
  info.first_position = first->position;
  return {};
}

Result<std::optional<SubjectInfo>> Reader::find_subject(std::string_view subject) const {
  for (;;) {
    const std::uint64_t first_live = view_.first_live();
    auto info = catalogue_.find(subject);
    if (!info) return fail(std::move(info.error()));
    if (!view_.overlay_subject(subject, *info) && view_.first_live() == first_live)
      return std::nullopt;
    if (view_.first_live() != first_live) continue;  // A segment was catalogued in between.
    if (auto status = settle_first(**info); !status) return fail(std::move(status.error()));
    return info;
  }
}

Result<Reader::Listed> Reader::list_once(std::string_view prefix,
                                         std::string_view after,
                                         std::size_t count_max,
                                         bool open_only) const {
  auto kept = catalogue_.list(prefix, after, count_max, open_only);
  if (!kept) return fail(std::move(kept.error()));
  Listed listed;
  // Beyond the last of a full list the catalogue may know more names: those come the next time.
  const bool cut = kept->size() == count_max;
  const std::string bound = cut ? kept->back().name : std::string();
  auto names = view_.live_names(
      prefix, after, cut ? std::optional<std::string_view>(bound) : std::nullopt, count_max);
  auto row = kept->begin();
  const auto take = [&](std::optional<SubjectInfo> info, std::string_view name) {
    view_.overlay_subject(name, info);
    const bool wanted =
        info && info->last.value > 0 && (!open_only || info->state == RunState::open);
    if (wanted) listed.found.push_back(std::move(*info));
  };
  for (const std::string& name : names) {
    for (; row != kept->end() && row->name < name; ++row)
      take(*row, row->name);
    if (row != kept->end() && row->name == name) {
      take(*row++, name);
      continue;
    }
    // Not listed, but it may be there: with another state than the one that was asked for.
    auto known = catalogue_.find(name);
    if (!known) return fail(std::move(known.error()));
    take(std::move(*known), name);
  }
  // With a full list of live names, what follows them is for the next call.
  const bool more_live = names.size() == count_max;
  for (; row != kept->end() && !more_live; ++row)
    take(*row, row->name);
  listed.more = cut || more_live;
  if (listed.more) listed.upto = more_live ? names.back() : bound;
  return listed;
}

Result<std::vector<SubjectInfo>> Reader::subjects(std::string_view prefix,
                                                  std::string_view after,
                                                  std::size_t count_max,
                                                  bool open_only) const {
  std::vector<SubjectInfo> found;
  std::string from(after);
  for (bool more = count_max > 0; more;) {
    const std::uint64_t first_live = view_.first_live();
    auto listed = list_once(prefix, from, count_max, open_only);
    if (!listed) return fail(std::move(listed.error()));
    if (view_.first_live() != first_live) continue;  // A segment was catalogued in between.
    for (SubjectInfo& info : listed->found) {
      if (found.size() == count_max) return found;
      if (auto status = settle_first(info); !status) return fail(std::move(status.error()));
      found.push_back(std::move(info));
    }
    more = listed->more && found.size() < count_max;
    from = std::move(listed->upto);
  }
  return found;
}

}  // namespace runwire::segments
