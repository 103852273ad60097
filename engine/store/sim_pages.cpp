#include "engine/store/sim_pages.hpp"

#include <algorithm>
#include <utility>

namespace runwire::sim {

void put(Bytes& image, std::uint64_t offset, ByteView bytes) {
  if (bytes.empty()) return;
  if (image.size() < offset + bytes.size()) image.resize(offset + bytes.size());
  std::ranges::copy(bytes, image.begin() + static_cast<std::ptrdiff_t>(offset));
}

namespace {

/// What is left of doubted changes where a later write did reach the disk: the newer bytes stay.
std::vector<Unsynced> clipped(const Unsynced& doubted, std::uint64_t start, std::uint64_t end) {
  const std::uint64_t last = doubted.offset + doubted.bytes.size();
  if (doubted.size || last <= start || end <= doubted.offset) return {doubted};
  std::vector<Unsynced> left;
  const ByteView bytes(doubted.bytes);
  if (doubted.offset < start) {
    const ByteView head = bytes.first(start - doubted.offset);
    left.push_back(
        {.offset = doubted.offset, .bytes = Bytes(head.begin(), head.end()), .doubted = true});
  }
  if (last > end) {
    const ByteView rest = bytes.last(last - end);
    left.push_back({.offset = end, .bytes = Bytes(rest.begin(), rest.end()), .doubted = true});
  }
  return left;
}

/// One change reaches the disk for good.
void settle(Node& node, const Unsynced& change, std::vector<Unsynced>& doubted) {
  if (change.size) node.synced.resize(*change.size);
  put(node.synced, change.offset, change.bytes);
  const std::uint64_t end = change.size ? ~std::uint64_t{0} : change.offset + change.bytes.size();
  std::vector<Unsynced> left;
  for (const Unsynced& old : doubted) {
    if (change.size && old.size) continue;
    for (Unsynced& piece : clipped(old, change.size.value_or(change.offset), end)) {
      left.push_back(std::move(piece));
    }
  }
  doubted = std::move(left);
}

}  // namespace

void settle_all(Node& node) {
  std::vector<Unsynced> doubted;
  for (Unsynced& change : node.unsynced) {
    if (change.doubted) {
      doubted.push_back(std::move(change));
    } else {
      settle(node, change, doubted);
    }
  }
  node.unsynced = std::move(doubted);
}

void doubt_all(Node& node) {
  for (Unsynced& change : node.unsynced)
    change.doubted = true;
}

void survive(Bytes& image, const Unsynced& change, std::mt19937_64& random) {
  constexpr std::size_t sector = 512;
  const std::uint64_t fate = random() % 4;
  if (fate == 0) return;
  if (change.size) {
    image.resize(*change.size);
    return;
  }
  for (std::size_t at = 0; at < change.bytes.size();) {
    const std::uint64_t place = change.offset + at;
    const std::size_t piece =
        std::min<std::size_t>(sector - place % sector, change.bytes.size() - at);
    if (fate == 1 || random() % 2 == 0)
      put(image, place, ByteView(change.bytes).subspan(at, piece));
    at += piece;
  }
}

}  // namespace runwire::sim
