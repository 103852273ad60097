#pragma once

#include "codec/base/bytes.hpp"

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

/// One simulated file's bytes: what reads see, what a crash leaves. No files, no faults, no locks.
namespace runwire::sim {

/// A write or a change of size that no sync has covered. Doubted ones (after a failed sync) stay
/// here for ever: only a crash decides.
struct Unsynced {
  std::uint64_t offset = 0;
  Bytes bytes{};
  std::optional<std::uint64_t> size{};
  bool doubted = false;
};

struct Node {
  Bytes now{};     ///< What reads see.
  Bytes synced{};  ///< What is sure to be there after a crash.
  std::vector<Unsynced> unsynced{};
};

/// Bytes into an image, which grows when it must.
void put(Bytes& image, std::uint64_t offset, ByteView bytes);
/// A sync that worked: what it covered is sure from now on. What an earlier one lost stays in
/// doubt.
void settle_all(Node& node);
/// A sync that failed: what it covered is in doubt for ever.
void doubt_all(Node& node);
/// What of one unsynced change is there after the power came back: all, none or some sectors.
void survive(Bytes& image, const Unsynced& change, std::mt19937_64& random);

}  // namespace runwire::sim
