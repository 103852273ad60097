#pragma once

#include "codec/base/limits.hpp"

#include <chrono>
#include <cstddef>

/// Bounds of the server's own loops and hand-overs. Those that a person meets are in limits.hpp.
namespace runwire::bus::bounds {

// Hand-overs from the core to the thread of the live and observer sockets.
inline constexpr std::size_t live_pieces_max = 4096;
inline constexpr std::size_t live_bytes_max = std::size_t{64} << 20;
inline constexpr std::size_t observer_commands_max = 65536;

// What one turn of a loop takes, so that everything else gets its turn soon.
inline constexpr std::size_t pieces_per_turn_max = 16;
inline constexpr std::size_t acks_per_turn_max = 1024;
inline constexpr std::size_t subscriptions_per_turn_max = 256;
inline constexpr std::size_t beacons_per_turn_max = 256;
inline constexpr std::size_t requests_per_turn_max = 256;
inline constexpr std::size_t pages_per_turn_max = 16;
inline constexpr std::size_t page_bytes_per_turn_max = std::size_t{2} << 20;
inline constexpr std::size_t scan_pages_per_turn_max = 8;

// Commands that the core has and has not answered. Over either nothing more is received: TCP and
// the client's own queue hold the rest, and the order of a subject's appends stays what it was.
inline constexpr std::size_t commands_outstanding_max = 131072;
inline constexpr std::size_t command_bytes_outstanding_max = std::size_t{128} << 20;
static_assert(command_bytes_outstanding_max >
                  limits::window_bytes_max + limits::window_reserve_bytes,
              "the window must fill, and refuse, before receiving stops");

// Sockets.
inline constexpr int router_queue_messages_max = 2048;  ///< Replies to one client; small mostly.
inline constexpr int push_queue_messages_max = 32;      ///< Of at most a page each.
inline constexpr int acks_queue_messages_max = 4096;
inline constexpr std::size_t fenced_kept_max =
    4;  ///< Older attaches of one observer still told so.
inline constexpr std::chrono::seconds fenced_kept_for{60};
inline constexpr std::chrono::milliseconds linger{250};
static_assert(linger * 4 < limits::drain_timeout);

// A reader that does not drain its replies is looked at again this often.
inline constexpr std::chrono::milliseconds held_retry{5};

}  // namespace runwire::bus::bounds
