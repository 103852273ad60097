#pragma once

#include "codec/base/bytes.hpp"
#include "codec/base/clock.hpp"
#include "codec/base/ids.hpp"
#include "codec/base/limits.hpp"
#include "codec/base/strong.hpp"
#include "engine/store/store.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace runwire::bus {

/// One topic that somebody subscribes to, and what its readers have been told.
struct Topic {
  enum class Kind : std::uint8_t { subject, nameless, log, heartbeat };
  Kind kind = Kind::subject;
  std::string name{};         ///< As on the wire, with its `/`.
  std::uint64_t number = 0;   ///< Of this subscription's life; never used again.
  std::uint64_t counter = 0;  ///< `n`: messages sent on it.

  std::uint64_t last = 0;  ///< Last published place: a sequence, or a position on `*/`.
  bool known = false;      ///< False: `last` has to be looked up before it is told.
  RunState state = RunState::none;
  LogId origin{};
  OwnerTerm owner_term{1};

  // The beacon's schedule (beacons.hpp).
  Instant quiet_since{};
  std::chrono::seconds offset{0};  ///< The next beacon is due so long after `quiet_since`.
  std::optional<Instant> due{};

  [[nodiscard]] std::string_view subject() const {
    return kind == Kind::subject ? std::string_view(name).substr(0, name.size() - 1)
                                 : std::string_view{};
  }
};

/// What a topic's name says, or nothing where it is none of ours: a prefix, an empty one, a subject
/// with characters that no subject has.
[[nodiscard]] std::optional<Topic::Kind> kind_of_topic(std::string_view name);

/// The topics that have subscribers: events of all others cost one look-up and nothing else.
///
/// Owner: the live thread. Bound: `topics_max`; what is beyond is refused, and never published.
/// Topics keep their addresses until they are removed.
class TopicTable {
 public:
  explicit TopicTable(std::size_t topics_max = limits::topics_max) : topics_max_(topics_max) {}

  /// The topic, new or known; null where it is refused.
  Topic* add(std::string_view name);
  /// The last subscriber left. Null where it was not there; else the topic, for the caller to end.
  [[nodiscard]] std::unique_ptr<Topic> remove(std::string_view name);

  /// By subject; an empty one is the topic of events without a subject. Null: nobody listens.
  [[nodiscard]] Topic* find(std::string_view subject) const;
  [[nodiscard]] Topic* log() const { return log_.get(); }
  [[nodiscard]] Topic* heartbeat() const { return heartbeat_.get(); }
  [[nodiscard]] std::size_t size() const;

  template <class Visit>
  void for_each(const Visit& visit) {
    for (auto& [subject, topic] : subjects_)
      visit(*topic);
    if (log_) visit(*log_);
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  [[nodiscard]] std::unique_ptr<Topic>* slot_of(Topic::Kind kind);

  const std::size_t topics_max_;
  std::uint64_t next_number_ = 1;
  std::unordered_map<std::string, std::unique_ptr<Topic>, Hash, std::equal_to<>> subjects_{};
  std::unique_ptr<Topic> log_{};
  std::unique_ptr<Topic> heartbeat_{};
};

}  // namespace runwire::bus
