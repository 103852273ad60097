#pragma once

#include "codec/base/ids.hpp"
#include "codec/base/limits.hpp"
#include "codec/base/result.hpp"
#include "codec/base/strong.hpp"
#include "codec/event/event.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// The messages of docs/protocol.md as values, one struct each, and the only code that turns them
/// into bytes and back. Decoders are total: a typed error, no partial result, nothing allocated
/// beyond the bounds. Members stand in the order of the page.
namespace runwire::wire {

inline constexpr std::uint64_t protocol_major = 1;

enum class Level : std::uint8_t { acknowledged, committed };

/// Who numbers the next `count` events of a message that mixes subjects.
struct OwnerRun {
  std::uint64_t count = 0;
  LogId origin{};
  OwnerTerm owner_term{1};
  friend bool operator==(const OwnerRun&, const OwnerRun&) = default;
};

/// What every message with events says of them (section 3).
struct Span {
  std::uint64_t count = 0;
  Position first{};  ///< 0 where no event is durable.
  Position last{};
  std::vector<Position> positions{};  ///< Only where not consecutive.
  std::optional<LogId> origin{};      ///< One subject: where it differs from `log`.
  std::optional<OwnerTerm> owner_term{};
  std::vector<OwnerRun> owners{};  ///< Mixed subjects; empty: all owned by `log` in term 1.
  friend bool operator==(const Span&, const Span&) = default;
};

// ---- Requests (section 4) -----------------------------------------------------------------------

struct Hello {
  std::string agent{};
};
struct Read {
  std::optional<std::string> subject{};
  std::uint64_t after = 0;
  Level level = Level::acknowledged;
  std::uint64_t max_events = limits::page_events_max;
  std::uint64_t max_bytes = limits::page_bytes_max;
  std::uint64_t wait_ms = 0;
  std::optional<LogId> log{};
};
struct Subjects {
  std::string prefix{};
  std::string after{};
  std::uint64_t max = limits::subjects_page_max;
  bool open = false;
};
struct Append {
  std::string subject{};
  std::vector<Draft> events{};
  Level level = Level::committed;
  std::optional<std::uint64_t> deadline_ms{};
  std::optional<Sequence> expect{};
  std::optional<Epoch> epoch{};
  bool go_on = false;
  bool again =
      false;  ///< Sent before; ephemeral events that no longer fit are accepted and dropped.
};
struct Attach {
  std::string observer{};
  InstanceId instance{};
  std::optional<LogId> log{};
  std::optional<Position> position{};
};
struct Detach {
  std::string observer{};
  Epoch epoch{};
};
struct Claim {
  std::string subject{};
  Epoch epoch{};
};
struct Renew {
  std::vector<std::pair<std::string, Epoch>> claims{};
};
struct Observers {};
struct Suspend {
  std::string observer{};
};
struct Resume {
  std::string observer{};
};
struct GetStatus {};

using Operation = std::variant<Hello,
                               Read,
                               Subjects,
                               Append,
                               Attach,
                               Detach,
                               Claim,
                               Renew,
                               Observers,
                               Suspend,
                               Resume,
                               GetStatus>;

struct Request {
  std::uint64_t rid = 0;
  InstanceId client{};
  Operation operation{};
};

[[nodiscard]] std::string_view name_of(const Operation& operation);
[[nodiscard]] Bytes encode(const Request& request);
/// `unsupported` for another major or operation; `invalid`/`too_large` name the key. On an error
/// `rid_out` and `op_out` hold what could be read, so that the refusal can be addressed.
struct Addressed {
  std::uint64_t rid = 0;
  std::string op = "error";
};
[[nodiscard]] Result<Request> decode_request(ByteView frame, Addressed& addressed);

// ---- Replies ------------------------------------------------------------------------------------

struct HelloReply {
  std::string server{};
  std::vector<std::uint64_t> versions{};
  std::string live{};
  std::string acks{};
  Position committed{};
  Position acknowledged{};
  Position earliest{};
  std::uint64_t heartbeat_ms = 0;
  std::uint64_t lease_ms = 0;
  std::uint64_t ack_deadline_ms = 0;
  std::string sync{};
};
struct PageReply {
  std::optional<std::string> subject{};
  Span span{};
  std::uint64_t next = 0;
  std::uint64_t latest = 0;
  Position acknowledged{};
  Position committed{};
  std::uint64_t earliest = 0;
  bool end = false;
};
struct SubjectRow {
  std::string subject{};
  std::string state{};
  Sequence first{};
  Sequence last{};
  Position first_position{};
  Position last_position{};
  WallMicros time = 0;
  OwnerTerm owner_term{1};
  std::optional<LogId> origin{};
  bool claimed = false;
  Epoch epoch{};
};
struct SubjectsReply {
  std::vector<SubjectRow> subjects{};
  bool end = true;
};
struct AppendReply {
  std::string subject{};
  std::uint64_t taken = 0;
  std::vector<Sequence> seqs{};
  std::vector<Position> positions{};
  std::vector<std::uint64_t> duplicates{};
  Level level = Level::committed;
  std::string sync{};
};
struct AttachReply {
  std::string observer{};
  Epoch epoch{};
  std::string deliver{};
  std::string acks{};
  Position acked{};
  std::uint64_t ack_deadline_ms = 0;
  std::uint64_t max_in_flight = 0;
};
struct DetachReply {};
struct ClaimReply {
  std::string subject{};
  Epoch epoch{};
  std::uint64_t lease_ms = 0;
  Sequence last{};
  std::string state{};
};
struct RenewReply {
  std::uint64_t lease_ms = 0;
  std::vector<std::string> lost{};
};
struct ObserverRow {
  std::string observer{};
  std::string state{};  ///< `attached`, `absent`, `suspended`, `retired`.
  Epoch epoch{};
  Position acked{};
  std::uint64_t owed = 0;
  std::uint64_t in_flight = 0;
  std::uint64_t redeliveries = 0;
  std::uint64_t refusals = 0;
  std::uint64_t skipped = 0;
  std::uint64_t owed_bytes = 0;
  std::uint64_t oldest_ms = 0;
};
struct ObserversReply {
  std::vector<ObserverRow> observers{};
};
/// The answer to Suspend and to Resume.
struct SuspendReply {
  Position acked{};
};
struct StatusReply {
  std::vector<Fact> status{};
};
struct NoReply {};  ///< Beside an error that refused the whole request.

using Answer = std::variant<NoReply,
                            HelloReply,
                            PageReply,
                            SubjectsReply,
                            AppendReply,
                            AttachReply,
                            DetachReply,
                            ClaimReply,
                            RenewReply,
                            ObserversReply,
                            SuspendReply,
                            StatusReply>;

struct Reply {
  std::uint64_t rid = 0;
  std::string op{};
  LogId log{};
  Term term{};
  std::optional<Error> error{};
  Answer answer{};
};

[[nodiscard]] Bytes encode(const Reply& reply);
/// The answer's kind follows `op`; with an error and no body it is NoReply.
[[nodiscard]] Result<Reply> decode_reply(ByteView frame);

// ---- Observers (section 5) ----------------------------------------------------------------------

struct Delivery {
  enum class Kind : std::uint8_t { deliver, heartbeat, fenced };
  Kind kind = Kind::deliver;
  std::string observer{};
  LogId log{};
  Term term{};
  Epoch epoch{};
  Span span{};         ///< deliver
  bool again = false;  ///< deliver
  /// deliver: nothing between this and `first` is owed; absent: `first` - 1.
  std::optional<Position> prev{};
  Position acked{};  ///< heartbeat
  Epoch current{};   ///< fenced
};
[[nodiscard]] Bytes encode(const Delivery& delivery);
[[nodiscard]] Result<Delivery> decode_delivery(ByteView frame);

struct Ack {
  std::string observer{};
  LogId log{};
  Term term{};
  Epoch epoch{};
  Position position{};
  bool refused = false;  ///< True: a nack of the event at `position`.
  std::string reason{};
};
[[nodiscard]] Bytes encode(const Ack& ack);
[[nodiscard]] Result<Ack> decode_ack(ByteView frame);

// ---- Live (section 6) ---------------------------------------------------------------------------

struct Live {
  enum class Kind : std::uint8_t { events, beacon, heartbeat };
  Kind kind = Kind::events;
  LogId log{};
  Term term{};
  std::uint64_t counter = 0;  ///< `n`
  Position acknowledged{};
  std::optional<std::string> subject{};
  Span span{};             ///< events; a beacon uses its origin and owner_term
  std::uint64_t prev = 0;  ///< events
  std::uint64_t last = 0;  ///< beacon
  std::string state{};     ///< beacon of a subject
};
[[nodiscard]] Bytes encode(const Live& live);
[[nodiscard]] Result<Live> decode_live(ByteView frame);

[[nodiscard]] std::string topic_of(std::string_view subject);  ///< `subject/`; none: `/`.
inline constexpr std::string_view log_topic = "*/";
inline constexpr std::string_view heartbeat_topic = "!/";

}  // namespace runwire::wire
