#pragma once

#include "codec/base/result.hpp"
#include "codec/event/types.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace runwire::play {

/// What happens to a scope or a content; `Step` is one event of a recording in this room.
using Phase = runwire::Step;

/// What lies open in the run: a turn, a scope of a turn, or a content of an operation.
struct OpenItem {
  Root root = Root::turn;
  std::string identity{};
  std::string parent{};           ///< Key of what it lies in; empty: the run.
  std::string name{};             ///< Of a tool or a tool.input.
  std::string text{};             ///< Of a content: its deltas so far.
  std::size_t escaped_bytes = 0;  ///< Of `text`, as a JSON string.
  std::uint64_t deltas = 0;
  std::uint64_t order = 0;  ///< Grows with each start.
  bool streamed = false;    ///< Of an operation: has begun a content.
};

/// The lifecycle rules of DESIGN section 3 for one run, kept beside the events that are made for
/// it: what is refused here would be refused by the engine.
///
/// Owner: one thread. Bounds: the builder's. Errors: `lifecycle`, with the rule in words.
class RunLedger {
 public:
  /// May this event follow? `text` is a delta, or the full value of an `ended`.
  [[nodiscard]] Status check(TypeOf type, const Payload& payload, std::string_view text) const;
  /// Makes it so. Pre: check() said yes.
  void apply(TypeOf type, const Payload& payload, std::string_view text);

  [[nodiscard]] bool run_started() const { return run_started_; }
  [[nodiscard]] bool run_ended() const { return run_ended_; }
  [[nodiscard]] bool used(Root root, std::string_view identity) const;
  /// Null when it is not open. Valid until the next apply().
  [[nodiscard]] const OpenItem* open(Root root, std::string_view identity) const;
  /// All that lies open inside, innermost first, the youngest first. Root::run: everything.
  [[nodiscard]] std::vector<OpenItem> open_under(Root root, std::string_view identity) const;
  [[nodiscard]] std::size_t open_count() const { return open_.size(); }

 private:
  [[nodiscard]] Status check_run(TypeOf type) const;
  [[nodiscard]] Status check_start(TypeOf type, const Payload& payload) const;
  [[nodiscard]] Status check_content(TypeOf type,
                                     const Payload& payload,
                                     const OpenItem& item,
                                     std::string_view text) const;
  [[nodiscard]] bool has_children(const std::string& key) const;

  std::map<std::string, OpenItem, std::less<>> open_{};
  std::unordered_set<std::string> used_{};
  std::uint64_t starts_ = 0;
  bool run_started_ = false;
  bool run_ended_ = false;
};

/// The identity that `payload` carries for `root`; a turn's number as text.
[[nodiscard]] std::string identity_of(Root root, const Payload& payload);

}  // namespace runwire::play
