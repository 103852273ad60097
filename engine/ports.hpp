#pragma once

#include "codec/base/bytes.hpp"
#include "codec/base/strong.hpp"
#include "codec/wire/messages.hpp"
#include "engine/store/page.hpp"
#include "engine/store/store.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// What the engine asks of the world around it. Sockets are observers like any other: PUSH with ack
/// implements ObserverSink, PUB implements LiveSink; an embedding program has its own.
/// All calls come from the core thread, must not block and must not call back into the engine
/// except through Engine::submit.
namespace runwire {

/// The end of one command: an answer, an error, or (committed but not acknowledged) both.
struct Outcome {
  wire::Answer answer{};
  std::optional<Error> error{};
};
using Respond = std::move_only_function<void(Outcome)>;

/// One event that best-effort readers may now see.
struct LiveEntry {
  std::uint32_t subject = 0;  ///< Index into LiveBatch::subjects.
  std::uint32_t bytes = 0;
  Position position{};  ///< 0: ephemeral.
  Sequence seq{};       ///< 0: ephemeral.
};

struct LiveSubject {
  std::string name{};               ///< Empty: ephemeral events without a subject.
  Sequence prev{};                  ///< Last published before this batch.
  RunState state = RunState::none;  ///< After the last entry of this batch.
  LogId origin{};
  OwnerTerm owner_term{1};
};

/// What one turn of the core publishes, in log order; ephemeral events between their neighbours.
struct LiveBatch {
  Bytes events{};
  std::vector<LiveEntry> entries{};
  std::vector<LiveSubject> subjects{};
  Position prev{};  ///< Last published position before this batch.
  Position acknowledged{};
};

/// Best-effort readers. `offer` may say no (its queue is full): the core counts what was dropped
/// and goes on; readers see a hole in the numbers and heal by reading.
class LiveSink {
 public:
  virtual ~LiveSink() = default;
  [[nodiscard]] virtual bool offer(LiveBatch&& batch) = 0;
};

struct Attachment {
  std::string observer{};
  Epoch epoch{};
  Position acked{};
};

struct ObserverDelivery {
  std::string observer{};
  Epoch epoch{};
  Page page{};
  bool again = false;
  Position prev{};  ///< The event before: nothing between it and the first of these is owed.
};

/// The far side of required observers. What was handed over and not acked is bounded by the
/// engine's in-flight bounds, so nothing here is ever refused.
class ObserverSink {
 public:
  virtual ~ObserverSink() = default;
  /// Opens what the consumer connects to, then completes the AttachReply (endpoints) through
  /// `respond`. An older attach of the same name is told and closed first.
  virtual void attached(const Attachment& attachment, Respond respond) = 0;
  virtual void deliver(ObserverDelivery&& delivery) = 0;
  virtual void detached(const std::string& observer, Epoch epoch) = 0;
  /// A consumer under an old epoch was heard: tell it that `current` holds the name.
  virtual void fenced(const std::string& observer, Epoch stale, Epoch current) = 0;
};

}  // namespace runwire
