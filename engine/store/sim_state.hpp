#pragma once

#include "engine/store/sim_disk.hpp"
#include "engine/store/sim_pages.hpp"

#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace runwire {
namespace sim {

using Names = std::map<std::string, std::shared_ptr<Node>, std::less<>>;

/// One change of names; an empty `to` is a removal, an empty `from` a creation.
struct Renaming {
  std::string from{};
  std::string to{};
  std::shared_ptr<Node> node{};
};

inline void take_up(Names& names, const Renaming& change) {
  if (!change.from.empty()) names.erase(change.from);
  if (!change.to.empty()) names[change.to] = change.node;
}

[[nodiscard]] std::unexpected<Error> failed(ErrorCode code,
                                            std::string_view call,
                                            std::string_view file);

}  // namespace sim

/// What a SimDisk and its open files share. Guarded by `mutex`.
struct SimDisk::State {
  explicit State(std::uint64_t seed) : random(seed) {}

  mutable std::mutex mutex{};
  std::mt19937_64 random;
  sim::Names names{};
  sim::Names synced_names{};
  std::vector<sim::Renaming> renamings{};  ///< Since the last sync of the folder.
  std::set<std::string, std::less<>> directories{};
  std::set<std::string, std::less<>> locks{};
  std::uint64_t life = 1;  ///< Grows at a crash; files of an older one are dead.
  std::uint64_t calls = 0;
  std::uint64_t fail_at = 0;
  Fault fault = Fault::io;
  bool met = false;
  bool dark = false;
  bool fail_sync = false;
  std::optional<std::uint64_t> room{};

  /// Counts one call and says which fault it meets.
  std::optional<Fault> next_call() {
    ++calls;
    if (dark) return Fault::power;
    if (fail_at == 0 || calls != fail_at) return std::nullopt;
    met = true;
    dark = fault == Fault::power;
    return fault;
  }

  /// The same for calls that either work or do nothing.
  Status plain_call(std::string_view call, std::string_view file, bool can_fill) {
    const auto met_fault = next_call();
    if (!met_fault) return {};
    const bool full = *met_fault == Fault::full && can_fill;
    return sim::failed(full ? ErrorCode::store_full : ErrorCode::store_failed, call, file);
  }

  void change(sim::Renaming renaming) {
    sim::take_up(names, renaming);
    renamings.push_back(std::move(renaming));
  }
};

}  // namespace runwire
