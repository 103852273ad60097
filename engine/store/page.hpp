#pragma once

#include "codec/base/bytes.hpp"
#include "codec/base/limits.hpp"
#include "codec/base/strong.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace runwire {

/// Where one event of a page stands in the log and in its subject, and how long it is.
struct PageEntry {
  Position position{};
  Sequence seq{};
  std::uint32_t bytes = 0;
  friend bool operator==(const PageEntry&, const PageEntry&) = default;
};

/// Durable events back to back, as they go on the wire. Owned: it moves between threads.
struct Page {
  Bytes events{};
  std::vector<PageEntry> entries{};  ///< In log order; one for each event.
  bool more = false;                 ///< Stopped at a bound, not at the end.

  [[nodiscard]] bool empty() const { return entries.empty(); }
  /// True where the positions have no hole, so that first and last say it all.
  [[nodiscard]] bool consecutive() const {
    return entries.empty() ||
           entries.back().position.value - entries.front().position.value + 1 == entries.size();
  }
};

/// Both bounds hold at once; one event always fits, so that a reader cannot stand still.
struct PageBounds {
  std::size_t events_max = limits::page_events_max;
  std::size_t bytes_max = limits::page_bytes_max;
};

}  // namespace runwire
