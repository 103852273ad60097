#pragma once

#include "codec/base/result.hpp"
#include "engine/log/staged.hpp"
#include "engine/log/subject.hpp"
#include "engine/store/store.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace runwire {

/// One durable event that has a number: where it is until the window lets it go.
struct Numbered {
  Subject* subject = nullptr;
  Sequence seq{};
  Position position{};
  RunState state = RunState::none;  ///< Of the subject after it.
  ByteView encoded{};               ///< Into the batch's staged appends, or its `loaded` bytes.
  std::uint64_t end = 0;            ///< Bytes that the window ever took in, up to and with it.
};

/// Somebody who waits for a batch to be committed: an append's receipt, a claim's answer.
struct Waiting {
  Outcome outcome{};  ///< What to say on success.
  Respond respond{};
  bool acknowledged = false;  ///< Wait on, until every required observer has acked `last`.
  Position first{};
  Position last{};
  Sequence last_seq{};
  Instant due{};
};

/// What is written with one sync: whatever arrived while the batch before was being written. It
/// owns the bytes that its records and the window refer to.
struct Batch {
  std::vector<std::unique_ptr<Staged>> appends{};
  std::deque<std::string> names{};  ///< Of control records.
  std::deque<Bytes> values{};       ///< Of control records; events loaded at open.
  std::vector<Record> records{};
  std::vector<Numbered> numbered{};
  std::vector<Waiting> waiting{};
  std::size_t bytes = 0;
  Position last{};  ///< Of the last event at or before the end of this batch.

  [[nodiscard]] bool empty() const { return records.empty() && waiting.empty(); }
  void add_control(Record record, std::string name, Bytes value) {
    record.subject = names.emplace_back(std::move(name));
    record.bytes = values.emplace_back(std::move(value));
    records.push_back(record);
  }
};

}  // namespace runwire
