#include "engine/store/memory/memory_store.hpp"

#include <algorithm>
#include <mutex>
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
  trim();
  return {};
}

Status MemoryStore::check(std::span<const Record> records) const {
  std::uint64_t position = first_.value + kept_.size();
  for (const Record& record : records) {
    if (record.kind != RecordKind::event) continue;
    if (record.position.value != position++ || record.subject.empty()) {
      return fail(Error{ErrorCode::internal, "a batch does not go on from the log's end", {}}.with(
          "position", record.position.value));
    }
  }
  return {};
}

MemoryStore::Subjects::iterator MemoryStore::known(std::string_view name) {
  auto found = subjects_.find(name);
  if (found == subjects_.end()) {
    found = subjects_.emplace(std::string(name), Subject{}).first;
    found->second.info.name = name;
    found->second.info.origin = log_;
  }
  return found;
}

void MemoryStore::own(const Record& record) {
  SubjectInfo& info = known(record.subject)->second.info;
  info.owner_term = {record.number};
  info.origin = {};
  if (record.bytes.size() == info.origin.bytes.size()) {
    std::ranges::copy(record.bytes, info.origin.bytes.begin());
  }
}

void MemoryStore::keep(const Record& record) {
  const auto found = known(record.subject);
  Subject& subject = found->second;
  subject.info.state = record.state;
  subject.info.local = record.local;
  if (subject.positions.empty()) {
    subject.info.first = record.seq;
    subject.info.first_position = record.position;
  }
  subject.info.last = record.seq;
  subject.info.last_position = record.position;
  subject.info.time = record.time;
  subject.positions.push_back(record.position);
  bytes_ += record.bytes.size();
  kept_.push_back({.seq = record.seq,
                   .subject = found->first,
                   .bytes = Bytes(record.bytes.begin(), record.bytes.end())});
}

void MemoryStore::trim() {
  while (kept_.size() > 1 &&
         (kept_.size() > options_.log_events_max || bytes_ > options_.log_bytes_max)) {
    const Kept& oldest = kept_.front();
    Subject& subject = subjects_.find(oldest.subject)->second;
    subject.positions.pop_front();
    subject.info.first = next(subject.info.first);
    if (!subject.positions.empty()) subject.info.first_position = subject.positions.front();
    bytes_ -= oldest.bytes.size();
    kept_.pop_front();
    first_ = next(first_);
  }
}

Position MemoryStore::last() const {
  const std::shared_lock lock(mutex_);
  return {first_.value + kept_.size() - 1};
}

Position MemoryStore::earliest() const {
  const std::shared_lock lock(mutex_);
  return first_;
}

/// False when the page is full; one event always fits.
bool MemoryStore::add(Page& page, Position position, PageBounds bounds) const {
  const Kept& kept = at(position);
  const bool full = page.entries.size() >= bounds.events_max ||
                    page.events.size() + kept.bytes.size() > bounds.bytes_max;
  if (full && !page.empty()) {
    page.more = true;
    return false;
  }
  page.events.insert(page.events.end(), kept.bytes.begin(), kept.bytes.end());
  page.entries.push_back({.position = position,
                          .seq = kept.seq,
                          .bytes = static_cast<std::uint32_t>(kept.bytes.size())});
  return true;
}

Result<Page> MemoryStore::read_log(Position after, Position upto, PageBounds bounds) const {
  const std::shared_lock lock(mutex_);
  const std::uint64_t last = first_.value + kept_.size() - 1;
  if (after.value + 1 < first_.value) return expired(after.value, first_.value, last);
  Page page;
  const std::uint64_t end = std::min(upto.value, last);
  for (std::uint64_t position = after.value + 1; position <= end; ++position) {
    if (!add(page, Position{position}, bounds)) break;
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
  for (std::size_t place = after.value + 1 - subject.info.first.value;
       place < subject.positions.size();
       ++place) {
    const Position position = subject.positions[place];
    if (position > upto || !add(page, position, bounds)) break;
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
