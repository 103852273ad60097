#pragma once

#include "codec/base/ids.hpp"
#include "codec/base/strong.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace runwire {

/// Where the newest event ids stand: the memory of an idempotent append. Sixteen bytes an id; a hit
/// says where to look, the event there decides.
///
/// Owner: the core thread. Bound: `ids_max` ids, oldest position first out. Positions are added in
/// order without a hole.
class IdWindow {
 public:
  explicit IdWindow(std::size_t ids_max);

  /// The position at which an event with this id (or one in 2^64 others) was committed or numbered.
  [[nodiscard]] std::optional<Position> find(const EventId& id) const;
  void add(const EventId& id, Position position);
  /// Takes back what was added behind `last`: the store had no room for it.
  void forget_after(Position last, Position newest);
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::size_t capacity() const { return ids_max_; }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint64_t position = 0;  ///< 0: free.
  };
  [[nodiscard]] std::size_t home(std::uint64_t hash) const { return hash & (slots_.size() - 1); }
  void insert(Slot slot);
  void erase(std::uint64_t hash, std::uint64_t position);
  void grow();

  const std::size_t ids_max_;
  std::vector<Slot> slots_;            ///< Open addressing, a power of two, at most half full.
  std::vector<std::uint64_t> ring_{};  ///< Hash of the id at `position % ids_max`.
  std::size_t count_ = 0;
};

}  // namespace runwire
