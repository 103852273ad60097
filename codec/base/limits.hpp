#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace runwire::limits {

// Every bound of the product has a row in docs/limits.md; a test compares the two. Those that a
// person may change are fields of an options struct, whose default is the constant here.

// One event.
inline constexpr std::size_t type_bytes_max = 64;
inline constexpr std::size_t subject_bytes_max = 128;
inline constexpr std::size_t identity_bytes_max = 128;  ///< operation_id, call_id, text_id, ...
inline constexpr std::size_t data_bytes_max = std::size_t{1} << 20;
inline constexpr std::size_t location_entries_max = 8;
inline constexpr std::size_t location_value_bytes_max = 256;
inline constexpr std::size_t unknown_bytes_max = 4096;  ///< Unknown fields of one event, in all.
inline constexpr std::size_t upcast_steps_max = 1024;   ///< In one table of upcasts.
inline constexpr std::size_t event_bytes_max = data_bytes_max + 16384;

// Decoding.
inline constexpr std::size_t depth_max = 64;      ///< JSON and msgpack, encoder and decoder.
inline constexpr std::size_t tokens_max = 65536;  ///< Values in one header or request.
inline constexpr std::size_t message_bytes_max = std::size_t{8} << 20;
inline constexpr std::size_t error_message_bytes_max = 4096;
inline constexpr std::size_t error_facts_max = 16;

// Append.
inline constexpr std::size_t append_events_max = 1024;
inline constexpr std::size_t append_bytes_max = std::size_t{4} << 20;
inline constexpr std::size_t queue_commands_max = 8192;  ///< Waiting for the core.
inline constexpr std::size_t batch_events_max = 8192;    ///< In one store batch.
inline constexpr std::size_t batch_bytes_max = std::size_t{8} << 20;
inline constexpr std::size_t window_events_max = 65536;  ///< Numbered and not yet acknowledged.
inline constexpr std::size_t window_bytes_max = std::size_t{64} << 20;
inline constexpr std::size_t window_reserve_events = 1024;  ///< On top, for terminals alone.
inline constexpr std::size_t window_reserve_bytes = std::size_t{4} << 20;
inline constexpr std::size_t window_notes_max = 1024;  ///< On top again, for the bus's own events.
inline constexpr std::size_t window_note_bytes_max = std::size_t{8} << 20;
inline constexpr std::size_t idempotency_ids_max = std::size_t{1} << 20;
inline constexpr std::size_t open_scopes_max = 4096;  ///< Open scopes and contents of one run.

// Held ephemeral events.
inline constexpr std::size_t held_subject_events_max = 1024;
inline constexpr std::size_t held_subject_bytes_max = std::size_t{4} << 20;
inline constexpr std::size_t held_bytes_max = std::size_t{64} << 20;

// Required observers.
inline constexpr std::size_t observers_max = 16;
inline constexpr std::uint64_t skip_after_max = 1000;  ///< Refusals of one event.
inline constexpr std::size_t observer_name_bytes_max = 64;
inline constexpr std::size_t reason_bytes_max = 4096;
inline constexpr std::size_t in_flight_events_max = 1024;
inline constexpr std::size_t in_flight_bytes_max = std::size_t{4} << 20;
inline constexpr std::chrono::milliseconds ack_deadline{10'000};
inline constexpr std::chrono::milliseconds ack_store_delay{10};

// Reading.
inline constexpr std::size_t page_events_max = 1024;
inline constexpr std::size_t page_bytes_max = std::size_t{1} << 20;
inline constexpr std::size_t pages_outstanding_max = 8;
inline constexpr std::size_t reply_bytes_outstanding_max = std::size_t{4} << 20;
inline constexpr std::chrono::milliseconds wait_max{30'000};
inline constexpr std::size_t waiting_reads_max = 16384;
inline constexpr std::size_t subjects_page_max = 1024;

// Live.
inline constexpr std::size_t live_frame_bytes = std::size_t{64} << 10;
inline constexpr int live_queue_messages_max = 64;  ///< Send high-water mark of one PUB reader.
inline constexpr std::size_t topic_bytes_max = subject_bytes_max + 1;
inline constexpr std::size_t topics_max = 131072;  ///< Subscribed topics of one server.
inline constexpr std::size_t join_buffer_messages_max = 4096;
inline constexpr std::size_t join_buffer_bytes_max = std::size_t{32} << 20;
inline constexpr std::chrono::milliseconds heartbeat{1'000};
inline constexpr int heartbeats_missed_max = 3;
inline constexpr std::chrono::seconds beacon_interval_max{60};

// Inside one process: the log in memory, its readers, the face of an embedding program.
inline constexpr std::size_t memory_run_events_max = 8192;
inline constexpr std::size_t memory_run_bytes_max = std::size_t{32} << 20;
inline constexpr std::size_t memory_log_events_max = std::size_t{1} << 18;
inline constexpr std::size_t memory_log_bytes_max = std::size_t{256} << 20;
inline constexpr std::size_t memory_subjects_max = std::size_t{1} << 20;
inline constexpr std::size_t subscriptions_max = 1024;  ///< Readers inside one process.
inline constexpr std::size_t subscription_events_max = 1024;
inline constexpr std::size_t subscription_bytes_max = std::size_t{4} << 20;

// Leases and shutdown.
inline constexpr std::chrono::milliseconds lease{10'000};
inline constexpr std::chrono::milliseconds lease_renew{3'000};
inline constexpr std::chrono::milliseconds drain_timeout{5'000};

static_assert(data_bytes_max + 1024 < event_bytes_max);
static_assert(event_bytes_max < append_bytes_max && append_bytes_max < message_bytes_max);
static_assert(event_bytes_max + 4096 < message_bytes_max);
static_assert(append_bytes_max <= batch_bytes_max && batch_bytes_max <= window_bytes_max);
static_assert(message_bytes_max <= std::numeric_limits<std::uint32_t>::max());
static_assert(lease_renew * 3 < lease);

}  // namespace runwire::limits
