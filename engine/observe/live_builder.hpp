#pragma once

#include "engine/log/subject.hpp"
#include "engine/log/window.hpp"
#include "engine/ports.hpp"

#include <cstddef>
#include <cstdint>

namespace runwire {

/// Puts together what one turn shows to best-effort readers, in order, and offers it in pieces of
/// bounded size; counts what the sink has no room for.
///
/// Owner: the core thread. Bounds: `piece_events_max`, `piece_bytes_max` a piece; held ephemeral
/// events: limits::held_*. Cannot fail and cannot block.
class LiveBuilder {
 public:
  static constexpr std::size_t piece_events_max = 1024;
  static constexpr std::size_t piece_bytes_max = std::size_t{1} << 20;

  LiveBuilder(LiveSink* sink, Position published);

  /// A durable event becomes visible, and with it the ephemeral ones that waited behind it.
  void publish(const Numbered& event);
  /// An ephemeral event of `subject`: shown at once where nothing durable is unpublished before it,
  /// else held. Over a bound it is dropped and counted.
  void ephemeral(Subject& subject, ByteView encoded);
  /// One without a subject: shown at once.
  void ephemeral(ByteView encoded);
  /// What the messages of this turn name as acknowledged. Call before the turn's first publish().
  void acknowledge(Position acknowledged) { acknowledged_ = acknowledged; }
  /// Offers what has come together. Call at the end of a turn.
  void flush();

  [[nodiscard]] Position published() const { return published_; }
  [[nodiscard]] std::uint64_t dropped_events() const { return dropped_; }
  [[nodiscard]] std::uint64_t held_dropped() const { return held_dropped_; }
  [[nodiscard]] std::size_t held_bytes() const { return held_bytes_; }

 private:
  std::uint32_t index_of(Subject& subject);
  void append(std::uint32_t subject, ByteView encoded, Position position, Sequence seq);
  void release_held(Subject& subject);
  void offer();

  LiveSink* sink_;
  Position published_;
  Position acknowledged_;
  LiveBatch piece_{};
  std::uint64_t piece_number_ = 1;
  std::uint32_t nameless_ = 0;  ///< 1 + index of the entry without a name in this piece.
  std::size_t held_bytes_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t held_dropped_ = 0;
};

}  // namespace runwire
