#pragma once

#include "engine/store/store.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace runwire::test {

/// One event as a test wrote it.
struct Written {
  std::string subject{};
  std::string bytes{};
  Sequence seq{};
  Position position{};
  RunState state = RunState::none;
  friend bool operator==(const Written&, const Written&) = default;
};

/// Writes numbered events into a store and remembers what append() confirmed and what it did not.
class Scribe {
 public:
  Scribe& event(std::string subject, std::string bytes, RunState state = RunState::open) {
    const Sequence last = last_of(subject, batch_);
    batch_.push_back({.subject = std::move(subject),
                      .bytes = std::move(bytes),
                      .seq = next(last),
                      .position = {confirmed_.size() + batch_.size() + 1},
                      .state = state});
    kinds_.push_back(RecordKind::event);
    return *this;
  }

  Scribe& control(RecordKind kind, std::string name, std::uint64_t number, std::string bytes = {}) {
    controls_.push_back(
        {.kind = kind, .name = std::move(name), .number = number, .bytes = std::move(bytes)});
    kinds_.push_back(kind);
    return *this;
  }

  /// Appends what was added since the last commit, as one batch.
  Status commit(Store& store) {
    const std::vector<Record> records = lay_out();
    auto status = store.append(records);
    if (status) {
      confirmed_.insert(confirmed_.end(), batch_.begin(), batch_.end());
      attempts_.clear();
    } else {
      attempts_.push_back(batch_);
    }
    batch_.clear();
    controls_.clear();
    kinds_.clear();
    return status;
  }

  [[nodiscard]] const std::vector<Written>& confirmed() const { return confirmed_; }

  /// After a crash: all that was confirmed is there, and behind it nothing or one whole batch that
  /// was tried and not confirmed. Takes that batch up. False: the store broke its word.
  bool adopt(const Store& store) {
    const std::uint64_t last = store.last().value;
    if (last < confirmed_.size()) return false;
    if (last > confirmed_.size()) {
      const std::vector<Written> found = read_all(store);
      std::erase_if(attempts_, [&](const std::vector<Written>& tried) {
        std::vector<Written> whole = confirmed_;
        whole.insert(whole.end(), tried.begin(), tried.end());
        return !same(whole, found);
      });
      if (attempts_.empty()) return false;
      confirmed_.insert(confirmed_.end(), attempts_.front().begin(), attempts_.front().end());
    }
    attempts_.clear();
    return holds(store);
  }

  /// Every way of reading agrees with what was confirmed.
  [[nodiscard]] bool holds(const Store& store) const {
    if (!same(confirmed_, read_all(store))) return false;
    for (const auto& [name, mine] : by_subject()) {
      auto info = store.find_subject(name);
      if (!info || !*info || (*info)->last != mine.back().seq ||
          (*info)->state != mine.back().state)
        return false;
      if ((*info)->first.value != 1 || (*info)->last_position != mine.back().position) return false;
      auto page =
          store.read_subject(name, {}, store.last(), {.events_max = 1 << 20, .bytes_max = 1 << 30});
      if (!page || !same(mine, split(*page))) return false;
    }
    auto listed = store.subjects("", "", 1 << 20, false);
    return listed && listed->size() == by_subject().size();
  }

  /// The whole log through pages of seven.
  static std::vector<Written> read_all(const Store& store) {
    std::vector<Written> found;
    for (Position after{}; after < store.last();) {
      auto page = store.read_log(after, store.last(), {.events_max = 7, .bytes_max = 1 << 20});
      if (!page || page->empty()) break;
      for (Written& event : split(*page))
        found.push_back(std::move(event));
      after = page->entries.back().position;
    }
    return found;
  }

  static std::vector<Written> split(const Page& page) {
    std::vector<Written> events;
    std::size_t at = 0;
    for (const PageEntry& entry : page.entries) {
      const ByteView bytes = ByteView(page.events).subspan(at, entry.bytes);
      events.push_back(
          {.bytes = std::string(as_text(bytes)), .seq = entry.seq, .position = entry.position});
      at += entry.bytes;
    }
    return events;
  }

  /// A page has no subjects and states: those are left out of the comparison.
  static bool same(const std::vector<Written>& wanted, const std::vector<Written>& found) {
    return std::ranges::equal(wanted, found, [](const Written& one, const Written& two) {
      return one.bytes == two.bytes && one.seq == two.seq && one.position == two.position;
    });
  }

 private:
  struct Control {
    RecordKind kind{};
    std::string name{};
    std::uint64_t number = 0;
    std::string bytes{};
  };

  [[nodiscard]] std::vector<Record> lay_out() const {
    std::vector<Record> records;
    auto event = batch_.begin();
    auto control = controls_.begin();
    for (const RecordKind kind : kinds_) {
      if (kind == RecordKind::event) {
        records.push_back({.subject = event->subject,
                           .bytes = as_bytes(event->bytes),
                           .position = event->position,
                           .seq = event->seq,
                           .time = 1000 + event->position.value,
                           .state = event->state});
        ++event;
      } else {
        records.push_back({.kind = control->kind,
                           .subject = control->name,
                           .number = control->number,
                           .bytes = as_bytes(control->bytes)});
        ++control;
      }
    }
    return records;
  }

  [[nodiscard]] Sequence last_of(const std::string& subject,
                                 const std::vector<Written>& batch) const {
    const auto mine = [&](const Written& event) { return event.subject == subject; };
    const auto count = std::ranges::count_if(confirmed_, mine) + std::ranges::count_if(batch, mine);
    return {static_cast<std::uint64_t>(count)};
  }

  [[nodiscard]] std::map<std::string, std::vector<Written>> by_subject() const {
    std::map<std::string, std::vector<Written>> subjects;
    for (const Written& event : confirmed_)
      subjects[event.subject].push_back(event);
    return subjects;
  }

  std::vector<Written> confirmed_{};
  std::vector<std::vector<Written>> attempts_{};  ///< Not confirmed since the last that was.
  std::vector<Written> batch_{};
  std::deque<Control> controls_{};
  std::vector<RecordKind> kinds_{};
};

}  // namespace runwire::test
