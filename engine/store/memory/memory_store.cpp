#include "engine/store/memory/memory_store.hpp"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

namespace runwire {
namespace {

std::unexpected<Error> expired(std::uint64_t requested,
                               std::uint64_t earliest,
                               std::uint64_t latest) {
  return fail(Error{ErrorCode::cursor_expired, "the cursor is older than what is kept", {}}
                  .with("requested", requested)
                  .with("earliest", earliest)
                  .with("latest", latest)
                  .with("recovery", earliest - 1));
}

}  // namespace

Status MemoryStore::append(std::span<const Record> records) {
  const std::scoped_lock lock(mutex_);
  if (auto checked = check(records); !checked) return checked;
  for (const Record& record : records) {
    if (record.kind == RecordKind::event) keep(record);
    if (record.kind == RecordKind::owner) own(record);
  }
  return {};
}

Status MemoryStore::check(std::span<const Record> records) const {
  std::uint64_t position = last_.value;
  std::set<std::string_view> made;
  for (const Record& record : records) {
    if (record.kind != RecordKind::event) continue;
    if (record.position.value != ++position || record.subject.empty()) {
      return fail(Error{ErrorCode::internal, "a batch does not go on from the log's end", {}}.with(
          "position", record.position.value));
    }
    if (!subjects_.contains(record.subject)) made.insert(record.subject);
  }
  if (subjects_.size() + made.size() <= options_.subjects_max) return {};
  return fail(
      Error{ErrorCode::store_full, "too many subjects for a log in memory; use files", {}}.with(
          "limit", options_.subjects_max));
}

MemoryStore::Subject& MemoryStore::known(std::string_view name) {
  auto found = subjects_.find(name);
  if (found == subjects_.end()) {
    found = subjects_.emplace(std::string(name), Subject{}).first;
    found->second.info.name = name;
    found->second.info.origin = log_;
  }
  return found->second;
}

void MemoryStore::own(const Record& record) {
  SubjectInfo& info = known(record.subject).info;
  info.owner_term = {record.number};
  info.origin = {};
  if (record.bytes.size() == info.origin.bytes.size()) {
    std::ranges::copy(record.bytes, info.origin.bytes.begin());
  }
}

void MemoryStore::keep(const Record& record) {
  Subject& subject = known(record.subject);
  subject.info.state = record.state;
  subject.info.local = record.local;
  if (subject.kept.empty()) {
    subject.info.first = record.seq;
    subject.info.first_position = record.position;
  }
  subject.info.last = record.seq;
  subject.info.last_position = record.position;
  subject.info.time = record.time;
  subject.kept.push_back(
      {.position = record.position, .bytes = Bytes(record.bytes.begin(), record.bytes.end())});
  subject.bytes += record.bytes.size();
  bytes_ += record.bytes.size();
  last_ = record.position;
  places_.emplace_hint(places_.end(), record.position, Place{&subject, record.seq});
  trim(subject);
}

bool MemoryStore::over_its_bound(const Subject& subject) const {
  // The end of a run has room of its own: it is kept, and sends nothing away.
  const bool ended_now = ended(subject.info.state);
  const std::size_t events_max = options_.run_events_max + (ended_now ? 1 : 0);
  const std::size_t bytes_max =
      options_.run_bytes_max + (ended_now ? subject.kept.back().bytes.size() : 0);
  return subject.kept.size() > events_max || subject.bytes > bytes_max;
}

void MemoryStore::trim(Subject& subject) {
  while (subject.kept.size() > 1 && over_its_bound(subject))
    evict_oldest(subject);
  while (places_.size() > 1 &&
         (places_.size() > options_.log_events_max || bytes_ > options_.log_bytes_max)) {
    evict_oldest(*places_.begin()->second.subject);
  }
}

void MemoryStore::evict_oldest(Subject& subject) {
  const Kept& oldest = subject.kept.front();
  evicted_ = std::max(evicted_, oldest.position);
  places_.erase(oldest.position);
  subject.bytes -= oldest.bytes.size();
  bytes_ -= oldest.bytes.size();
  subject.kept.pop_front();
  subject.info.first = next(subject.info.first);
  if (!subject.kept.empty()) subject.info.first_position = subject.kept.front().position;
}

Position MemoryStore::last() const {
  const std::shared_lock lock(mutex_);
  return last_;
}

Position MemoryStore::earliest() const {
  const std::shared_lock lock(mutex_);
  return next(evicted_);
}

/// False when the page is full; one event always fits.
bool MemoryStore::add(Page& page, const Kept& kept, Sequence seq, PageBounds bounds) {
  const bool full = page.entries.size() >= bounds.events_max ||
                    page.events.size() + kept.bytes.size() > bounds.bytes_max;
  if (full && !page.empty()) {
    page.more = true;
    return false;
  }
  page.events.insert(page.events.end(), kept.bytes.begin(), kept.bytes.end());
  page.entries.push_back({.position = kept.position,
                          .seq = seq,
                          .bytes = static_cast<std::uint32_t>(kept.bytes.size())});
  return true;
}

Result<Page> MemoryStore::read_log(Position after, Position upto, PageBounds bounds) const {
  const std::shared_lock lock(mutex_);
  Page page;
  Position wanted = next(after);
  const Position end = std::min(upto, last_);
  for (auto place = places_.lower_bound(wanted); wanted <= end; ++place, wanted = next(wanted)) {
    if (place == places_.end() || place->first != wanted) {
      // Evicted. What stands before the hole is given; whoever asks behind it hears of it.
      page.more = true;
      if (!page.empty()) break;
      return expired(after.value, evicted_.value + 1, last_.value);
    }
    const auto& [subject, seq] = place->second;
    const Kept& kept = subject->kept[seq.value - subject->info.first.value];
    if (!add(page, kept, seq, bounds)) break;
  }
  return page;
}

Result<Page> MemoryStore::read_subject(std::string_view name,
                                       Sequence after,
                                       Position upto,
                                       PageBounds bounds) const {
  const std::shared_lock lock(mutex_);
  const auto found = subjects_.find(name);
  if (found == subjects_.end()) return Page{};
  const Subject& subject = found->second;
  if (after.value + 1 < subject.info.first.value) {
    return expired(after.value, subject.info.first.value, subject.info.last.value);
  }
  Page page;
  for (std::size_t place = after.value + 1 - subject.info.first.value; place < subject.kept.size();
       ++place) {
    const Kept& kept = subject.kept[place];
    if (kept.position > upto ||
        !add(page, kept, Sequence{subject.info.first.value + place}, bounds)) {
      break;
    }
  }
  return page;
}

Result<std::optional<SubjectInfo>> MemoryStore::find_subject(std::string_view name) const {
  const std::shared_lock lock(mutex_);
  const auto found = subjects_.find(name);
  if (found == subjects_.end()) return std::optional<SubjectInfo>{};
  return std::optional<SubjectInfo>{found->second.info};
}

Result<std::vector<SubjectInfo>> MemoryStore::subjects(std::string_view prefix,
                                                       std::string_view after,
                                                       std::size_t count_max,
                                                       bool open_only) const {
  const std::shared_lock lock(mutex_);
  std::vector<SubjectInfo> rows;
  auto entry = after >= prefix ? subjects_.upper_bound(after) : subjects_.lower_bound(prefix);
  for (; entry != subjects_.end() && rows.size() < count_max && entry->first.starts_with(prefix);
       ++entry) {
    const SubjectInfo& info = entry->second.info;
    // An owner may be known before the first event; it is not listed until then.
    if (info.last.value == 0 || (open_only && info.state != RunState::open)) continue;
    rows.push_back(info);
  }
  return rows;
}

std::unique_ptr<Store> make_memory_store(const MemoryOptions& options, IdSource& ids) {
  return std::make_unique<MemoryStore>(options, ids.log_id());
}

}  // namespace runwire
