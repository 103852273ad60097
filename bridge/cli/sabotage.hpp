#pragma once

#include "bus/source/server.hpp"
#include "codec/base/ids.hpp"
#include "engine/store/store.hpp"

#include <memory>
#include <optional>
#include <string_view>
#include <thread>

/// Bugs that a proof can put in, to see that it would find them: RUNWIRE_BREAK=NAME of `serve`.
/// Never on by itself, and said aloud when it is. Nothing else in the product knows of it.
namespace runwire::cli {

enum class Sabotage {
  none,
  false_receipt,    ///< A batch is answered now and written with the next one.
  drop_event,       ///< Now and then one event is written over with its neighbour.
  reuse_number,     ///< Now and then an event carries the sequence before its own.
  early_publish,    ///< What is delivered is acked in the observers' name.
  skip_ack,         ///< After a restart everything counts as acked.
  second_terminal,  ///< The event before a run's end becomes an end too.
};
[[nodiscard]] std::optional<Sabotage> sabotage_from(std::string_view name);

/// The store with the bug in it; the same store where the bug is elsewhere.
[[nodiscard]] std::unique_ptr<Store> sabotaged(std::unique_ptr<Store> store, Sabotage sabotage);

/// A thread that acks whatever is in flight, for `early_publish`. Stops with the object; the server
/// must outlive it.
[[nodiscard]] std::jthread early_acker(bus::Server& server, const Store& store);

}  // namespace runwire::cli
