#pragma once

#include "codec/base/result.hpp"
#include "codec/event/types.hpp"
#include "engine/store/store.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace runwire {

/// One open scope or content of a run, as closing it needs it.
struct OpenScope {
  Root root = Root::turn;
  std::string identity{};  ///< operation_id, call_id, interaction_id, content id; a turn's number.
  std::string parent{};    ///< Key of the scope it lies in; empty: the run itself.
  std::string name{};      ///< Of a tool.
  std::uint64_t turn = 0;
  std::uint64_t next_index = 0;  ///< Of a content's deltas.
  std::uint64_t order = 0;       ///< Grows with each start: the youngest closes first.
  bool has_content = false;      ///< A model that has streamed something: mid_stream.
};

/// The lifecycle of one run: which scopes are open, which identities were used (DESIGN section 3).
///
/// Owner: the core thread. Bounds: limits::open_scopes_max open at once, `identities_max` in all.
/// Errors: `lifecycle` with the rule in words and the identity as a fact; check() changes nothing.
class RunMachine {
 public:
  static constexpr std::size_t identities_max = std::size_t{1} << 20;

  /// May this event follow what has been applied? Pre: `type` is of a reserved root and known.
  [[nodiscard]] Status check(TypeOf type, const Payload& payload) const;
  /// Makes it so. Pre: check() said yes, or the event is committed already (recovery).
  void apply(TypeOf type, const Payload& payload);

  [[nodiscard]] RunState state() const { return state_; }
  /// Everything that lies open under the scope that `type` and `payload` name (the run: all of it),
  /// innermost first. Contents are left out: they end with their parent.
  [[nodiscard]] std::vector<OpenScope> open_under(TypeOf type, const Payload& payload) const;
  [[nodiscard]] std::size_t open_count() const { return open_.size(); }

 private:
  [[nodiscard]] Status check_run(TypeOf type) const;
  [[nodiscard]] Status check_start(TypeOf type, const Payload& payload) const;
  [[nodiscard]] Status check_end(TypeOf type, const Payload& payload) const;
  [[nodiscard]] Status check_delta(TypeOf type, const Payload& payload) const;
  void close(const std::string& key);
  void close_under(const std::string& key);

  RunState state_ = RunState::none;
  std::map<std::string, OpenScope> open_{};   ///< By key: root and identity.
  std::unordered_set<std::uint64_t> used_{};  ///< XXH3 of every key that was ever started.
  std::uint64_t starts_ = 0;
};

}  // namespace runwire
