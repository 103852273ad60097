#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

/// The floors: loops over the bare system that move the same bytes in the same shapes as what is
/// measured beside them, and do nothing else.
namespace runwire::bench {

/// Appends batches of `batch_events` x `event_bytes` to one file of already written blocks, one
/// fdatasync a batch. Returns events per second.
double file_with_sync(const std::string& directory,
                      std::size_t event_bytes,
                      std::size_t batch_events,
                      std::size_t events);

/// A DEALER asks a ROUTER for pages of `page_events` x `event_bytes`, `outstanding` at a time.
double router_pages(std::size_t event_bytes,
                    std::size_t page_events,
                    std::size_t outstanding,
                    std::size_t events);

/// A PUB sends frames of `frame_events` x `event_bytes` to one SUB that counts them; only what
/// arrives is counted.
double pub_to_one(std::size_t event_bytes, std::size_t frame_events, std::size_t events);

/// A DEALER sends requests of `frame_events` x `event_bytes` to a ROUTER that answers each with a
/// short reply, `outstanding` at a time.
double router_requests(std::size_t event_bytes,
                       std::size_t frame_events,
                       std::size_t outstanding,
                       std::size_t events);

}  // namespace runwire::bench
