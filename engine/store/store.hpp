#pragma once

#include "codec/base/ids.hpp"
#include "codec/base/result.hpp"
#include "codec/base/strong.hpp"
#include "engine/store/page.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace runwire {

/// What became of a run. `none` is a subject that holds only user events. The numbers are in files.
enum class RunState : std::uint8_t { none = 0, open = 1, completed = 2, failed = 3, cancelled = 4 };

[[nodiscard]] constexpr bool ended(RunState state) {
  return state >= RunState::completed;
}
[[nodiscard]] std::string_view to_string(RunState state);

/// Kinds of records in a log. Events have positions of their own; control records carry that of the
/// event before them. The numbers are in files: never reused.
enum class RecordKind : std::uint8_t {
  event = 1,
  term = 2,   ///< The store was opened for writing. Written by the store itself.
  ack = 3,    ///< A required observer's ack moved: `subject` is its name, `number` the position.
  owner = 4,  ///< A subject's owner: `bytes` is the origin log id, `number` the owner term.
  claim = 5,  ///< A run's claim: `bytes` is the instance id (empty: released), `number` the epoch.
  trim = 6,   ///< Events up to `number` (a position) are gone.
  suspend = 7,    ///< `subject` is an observer's name, `number` 1 suspended, 0 resumed.
  observers = 8,  ///< The configured order: `bytes` is the names, each ended by a line feed.
  skip = 9,       ///< `subject` is an observer's name, `number` the position of an event that it
                  ///< refused for good, `bytes` the reason. It moves the ack as `ack` does.
  gate = 10,      ///< `subject` is an observer's name, `number` the position up to which it catches
                  ///< up and holds nobody back.
};

/// One record to write. Borrowed for the call.
struct Record {
  RecordKind kind = RecordKind::event;
  std::string_view subject{};  ///< Events: may be empty only for control records.
  std::uint64_t number = 0;    ///< Control records: see RecordKind.
  ByteView bytes{};            ///< Events: the encoded event, stamped.
  // Events only:
  Position position{};
  Sequence seq{};
  std::uint64_t time = 0;           ///< The event's, microseconds.
  RunState state = RunState::none;  ///< Of the subject after this event.
  bool local = false;  ///< Appended inside the process that owns the log (see SubjectInfo::local).
};

/// What the store knows of one subject.
struct SubjectInfo {
  std::string name{};
  RunState state = RunState::none;
  bool local = false;  ///< Its run was started inside the engine's process: recovery ends it.
  Sequence first{};
  Sequence last{};
  Position first_position{};
  Position last_position{};
  std::uint64_t time = 0;  ///< Of the last event, microseconds.
  LogId origin{};          ///< The log whose owner numbers it.
  OwnerTerm owner_term{1};
  friend bool operator==(const SubjectInfo&, const SubjectInfo&) = default;
};

struct AckInfo {
  std::string observer{};
  Position acked{};
  bool suspended = false;
  Position gates_from{};      ///< Up to there it catches up and holds nobody back.
  std::uint64_t skipped = 0;  ///< Events that it refused for good.
  friend bool operator==(const AckInfo&, const AckInfo&) = default;
};

struct ClaimInfo {
  std::string subject{};
  InstanceId holder{};
  Epoch epoch{};
  friend bool operator==(const ClaimInfo&, const ClaimInfo&) = default;
};

/// The state that control records make, as it stood when the store was opened.
struct ControlState {
  std::vector<AckInfo> acks{};           ///< Every name ever seen.
  std::vector<std::string> observers{};  ///< The order last recorded.
  std::vector<ClaimInfo> claims{};       ///< Not released.
};

/// What opening found and did; said in the log and in `status`.
struct RecoveryReport {
  std::uint64_t tail_bytes_cut = 0;        ///< Torn bytes dropped behind the last whole batch.
  std::uint64_t events_kept_unsynced = 0;  ///< Whole records above synced_to, copied and synced.
  bool catalogue_rebuilt = false;
};

enum class SyncMode : std::uint8_t { always = 0, none = 1 };  ///< `none`: memory store, tests.

/// The log on stable storage (or in memory): the truth that every cursor runs over.
///
/// Threads: append() is called by one thread at a time (the store thread). Everything const is safe
/// from any thread at any time, also while append() runs; a reader sees only what append() has
/// returned success for. Bounds: PageBounds. Lifetime: outlives every reader.
/// Errors: a failed write or sync is sticky: append() answers `store_failed` until the store has
/// been opened again; reads go on. `store_full` is not sticky and has changed nothing.
class Store {
 public:
  virtual ~Store() = default;

  /// Writes `records` in order as one batch and syncs it once. On success all are readable and on
  /// stable storage. Pre: event positions go on from last() without a hole, sequences from the
  /// subject's last without a hole. An empty span is a success that does nothing.
  virtual Status append(std::span<const Record> records) = 0;

  [[nodiscard]] virtual LogId log_id() const = 0;
  [[nodiscard]] virtual Term term() const = 0;
  [[nodiscard]] virtual SyncMode sync_mode() const = 0;
  [[nodiscard]] virtual Position last() const = 0;      ///< 0 in an empty log.
  [[nodiscard]] virtual Position earliest() const = 0;  ///< The oldest kept; last()+1 when none is.
  [[nodiscard]] virtual ControlState control() const = 0;
  [[nodiscard]] virtual RecoveryReport recovery() const = 0;

  /// Events with a position in (after, upto], oldest first. `cursor_expired` (requested, earliest,
  /// latest, recovery) when after+1 was trimmed; `corrupt` names file, offset and positions.
  [[nodiscard]] virtual Result<Page> read_log(Position after,
                                              Position upto,
                                              PageBounds bounds) const = 0;

  /// The subject's events with a sequence above `after` and a position up to `upto`. An unknown
  /// subject is an empty page. Errors as read_log, in sequences.
  [[nodiscard]] virtual Result<Page> read_subject(std::string_view subject,
                                                  Sequence after,
                                                  Position upto,
                                                  PageBounds bounds) const = 0;

  [[nodiscard]] virtual Result<std::optional<SubjectInfo>> find_subject(
      std::string_view subject) const = 0;

  /// In name order: those above `after` that start with `prefix`, at most `count_max`; with
  /// `open_only` those whose state is `open`.
  [[nodiscard]] virtual Result<std::vector<SubjectInfo>> subjects(std::string_view prefix,
                                                                  std::string_view after,
                                                                  std::size_t count_max,
                                                                  bool open_only) const = 0;
};

}  // namespace runwire
