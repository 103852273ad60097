#include "engine/log/id_window.hpp"

#include "codec/base/check.hpp"

#include <algorithm>
#include <utility>
#include <xxhash.h>

namespace runwire {
namespace {

constexpr std::size_t slots_first = 1024;

std::uint64_t hash_of(const EventId& id) {
  return XXH3_64bits(id.bytes.data(), id.bytes.size());
}

}  // namespace

IdWindow::IdWindow(std::size_t ids_max) : ids_max_(ids_max), slots_(slots_first) {
  check(ids_max > 0, "an id window holds at least one id");
}

std::optional<Position> IdWindow::find(const EventId& id) const {
  const std::uint64_t hash = hash_of(id);
  for (std::size_t at = home(hash); slots_[at].position != 0; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].hash == hash) return Position{slots_[at].position};
  }
  return std::nullopt;
}

void IdWindow::add(const EventId& id, Position position) {
  const std::uint64_t hash = hash_of(id);
  const std::size_t place = position.value % ids_max_;
  if (ring_.size() < ids_max_ && place >= ring_.size()) {
    ring_.resize(std::min(ids_max_, std::max(place + 1, ring_.size() * 2)));
  }
  if (count_ == ids_max_) {
    erase(ring_[place], position.value - ids_max_);
  } else {
    ++count_;
  }
  ring_[place] = hash;
  if (count_ * 2 > slots_.size()) grow();
  insert({hash, position.value});
}

void IdWindow::forget_after(Position last, Position newest) {
  for (std::uint64_t position = newest.value; position > last.value; --position) {
    erase(ring_[position % ids_max_], position);
    --count_;
  }
}

void IdWindow::insert(Slot slot) {
  std::size_t at = home(slot.hash);
  while (slots_[at].position != 0)
    at = (at + 1) & (slots_.size() - 1);
  slots_[at] = slot;
}

void IdWindow::erase(std::uint64_t hash, std::uint64_t position) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t hole = home(hash);
  while (slots_[hole].position != 0 && slots_[hole].position != position)
    hole = (hole + 1) & mask;
  if (slots_[hole].position == 0) return;
  // Backward shift: whoever probed past the hole moves into it, so that no tombstone is needed.
  for (std::size_t at = (hole + 1) & mask; slots_[at].position != 0; at = (at + 1) & mask) {
    const std::size_t from_home = (at - home(slots_[at].hash)) & mask;
    const std::size_t from_hole = (at - hole) & mask;
    if (from_home >= from_hole) {
      slots_[hole] = slots_[at];
      hole = at;
    }
  }
  slots_[hole] = {};
}

void IdWindow::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.position != 0) insert(slot);
  }
}

}  // namespace runwire
