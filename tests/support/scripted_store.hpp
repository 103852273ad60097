#pragma once

#include "codec/wire/event_codec.hpp"
#include "engine/store/store.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace runwire::test {

/// A store in memory that does as it is told: fails the next append, keeps what a dead process
/// left, is opened again under a higher term. Safe to read while one thread appends.
class ScriptedStore final : public Store {
 public:
  /// What survives a death: hand it to the next ScriptedStore.
  struct Disk {
    struct Stored {
      Bytes bytes{};
      std::string subject{};
      Sequence seq{};
    };
    LogId log{};
    Term term{};
    std::vector<Stored> events{};
    std::map<std::string, SubjectInfo> subjects{};
    ControlState control{};
    std::vector<std::pair<RecordKind, std::string>> control_records{};
  };

  explicit ScriptedStore(Disk& disk) : disk_(disk) {
    disk_.term = next(disk_.term);
    if (disk_.log == LogId{}) disk_.log.bytes[0] = std::byte{7};
  }

  void fail_next_append(ErrorCode code) { fail_next_ = code; }
  [[nodiscard]] std::size_t appends() const { return appends_; }

  Status append(std::span<const Record> records) override {
    const std::scoped_lock lock(mutex_);
    if (failed_) return fail(ErrorCode::store_failed, "the store has failed before");
    if (const auto code = std::exchange(fail_next_, std::nullopt)) {
      failed_ = *code != ErrorCode::store_full;
      return fail(*code, "as the test asked");
    }
    ++appends_;
    for (const Record& record : records) {
      if (record.kind == RecordKind::event) {
        append_event(record);
      } else {
        append_control(record);
      }
    }
    return {};
  }

  [[nodiscard]] LogId log_id() const override { return disk_.log; }
  [[nodiscard]] Term term() const override { return disk_.term; }
  [[nodiscard]] SyncMode sync_mode() const override { return SyncMode::always; }
  [[nodiscard]] Position last() const override {
    const std::scoped_lock lock(mutex_);
    return {disk_.events.size()};
  }
  [[nodiscard]] Position earliest() const override { return {1}; }
  [[nodiscard]] ControlState control() const override {
    const std::scoped_lock lock(mutex_);
    return disk_.control;
  }
  [[nodiscard]] RecoveryReport recovery() const override { return {}; }

  [[nodiscard]] Result<Page> read_log(Position after,
                                      Position upto,
                                      PageBounds bounds) const override {
    const std::scoped_lock lock(mutex_);
    return read({}, after.value, upto, bounds);
  }
  [[nodiscard]] Result<Page> read_subject(std::string_view subject,
                                          Sequence after,
                                          Position upto,
                                          PageBounds bounds) const override {
    const std::scoped_lock lock(mutex_);
    return read(subject, after.value, upto, bounds);
  }
  [[nodiscard]] Result<std::optional<SubjectInfo>> find_subject(
      std::string_view subject) const override {
    const std::scoped_lock lock(mutex_);
    const auto found = disk_.subjects.find(std::string(subject));
    if (found == disk_.subjects.end()) return std::nullopt;
    return found->second;
  }
  [[nodiscard]] Result<std::vector<SubjectInfo>> subjects(std::string_view prefix,
                                                          std::string_view after,
                                                          std::size_t count_max,
                                                          bool open_only) const override {
    const std::scoped_lock lock(mutex_);
    std::vector<SubjectInfo> found;
    for (const auto& [name, info] : disk_.subjects) {
      if (found.size() == count_max) break;
      if (!name.starts_with(prefix) || name <= after) continue;
      if (open_only && info.state != RunState::open) continue;
      found.push_back(info);
    }
    return found;
  }

 private:
  void append_event(const Record& record) {
    disk_.events.push_back(
        {Bytes(record.bytes.begin(), record.bytes.end()), std::string(record.subject), record.seq});
    SubjectInfo& info = disk_.subjects[std::string(record.subject)];
    if (info.name.empty()) {
      info.name = std::string(record.subject);
      info.first = record.seq;
      info.first_position = record.position;
      info.origin = disk_.log;
    }
    info.last = record.seq;
    info.last_position = record.position;
    info.time = record.time;
    info.state = record.state;
    info.local = record.local;
  }

  AckInfo& ack_of(const std::string& name) {
    auto& acks = disk_.control.acks;
    const auto found = std::ranges::find(acks, name, &AckInfo::observer);
    return found != acks.end() ? *found : acks.emplace_back(AckInfo{.observer = name});
  }

  void append_control(const Record& record) {
    const std::string name(record.subject);
    disk_.control_records.emplace_back(record.kind, name);
    ControlState& control = disk_.control;
    if (record.kind == RecordKind::ack) {
      ack_of(name).acked = {record.number};
    } else if (record.kind == RecordKind::suspend) {
      ack_of(name).suspended = record.number == 1;
    } else if (record.kind == RecordKind::gate) {
      ack_of(name).gates_from = {record.number};
    } else if (record.kind == RecordKind::skip) {
      ack_of(name).acked = std::max(ack_of(name).acked, Position{record.number});
      ++ack_of(name).skipped;
    } else if (record.kind == RecordKind::observers) {
      control.observers.clear();
      std::string_view names = as_text(record.bytes);
      while (!names.empty()) {
        const std::size_t end = names.find('\n');
        control.observers.emplace_back(names.substr(0, end));
        names.remove_prefix(end + 1);
      }
    } else if (record.kind == RecordKind::claim) {
      std::erase_if(control.claims, [&](const ClaimInfo& claim) { return claim.subject == name; });
      if (record.bytes.empty()) return;
      ClaimInfo claim{.subject = name, .epoch = {record.number}};
      std::ranges::copy(record.bytes, claim.holder.bytes.begin());
      control.claims.push_back(claim);
    }
  }

  [[nodiscard]] Page read(std::string_view subject,
                          std::uint64_t after,
                          Position upto,
                          PageBounds bounds) const {
    Page page;
    for (std::size_t at = 0; at < disk_.events.size() && at < upto.value; ++at) {
      const Disk::Stored& event = disk_.events[at];
      const Position position{at + 1};
      if (subject.empty() ? position.value <= after
                          : event.subject != subject || event.seq.value <= after) {
        continue;
      }
      const bool over = page.entries.size() == bounds.events_max ||
                        page.events.size() + event.bytes.size() > bounds.bytes_max;
      if (!page.empty() && over) {
        page.more = true;
        break;
      }
      page.events.insert(page.events.end(), event.bytes.begin(), event.bytes.end());
      page.entries.push_back({.position = position,
                              .seq = event.seq,
                              .bytes = static_cast<std::uint32_t>(event.bytes.size())});
    }
    return page;
  }

  Disk& disk_;
  mutable std::mutex mutex_;
  std::optional<ErrorCode> fail_next_{};
  bool failed_ = false;
  std::size_t appends_ = 0;
};

}  // namespace runwire::test
