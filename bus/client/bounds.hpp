#pragma once

#include "codec/base/limits.hpp"

#include <chrono>
#include <cstddef>

/// Bounds of the clients' own loops and waits. Those that a person meets are in limits.hpp.
namespace runwire::client::bounds {

// The pause before a request that was refused for want of room is sent again doubles up to the max.
inline constexpr std::chrono::milliseconds retry_first{20};
inline constexpr std::chrono::milliseconds retry_max{500};

// Appends.
inline constexpr std::size_t claims_max = 1024;           ///< As many as one `renew` carries.
inline constexpr std::size_t event_overhead_bytes = 256;  ///< Around the data of one event.

// Events.
inline constexpr int live_messages_per_turn_max = 256;
inline constexpr std::size_t reads_outstanding_max =
    4;  ///< Leaves room for reads of a former join.
inline constexpr std::chrono::milliseconds read_wait{1'000};
static_assert(reads_outstanding_max <= limits::pages_outstanding_max);
static_assert(read_wait < limits::wait_max);

// Observers.
inline constexpr int deliveries_per_turn_max =
    256;  ///< Repeats and heartbeats passed over at once.
inline constexpr std::chrono::milliseconds attach_timeout{3'000};
inline constexpr std::chrono::milliseconds detach_timeout{250};
inline constexpr std::chrono::milliseconds settle_pause{
    2};  ///< Between looks whether acks are on record.
inline constexpr std::chrono::milliseconds acks_linger{250};

}  // namespace runwire::client::bounds
