#include "bus/client/appender.hpp"

#include "bus/client/append_lane.hpp"
#include "bus/client/bounds.hpp"
#include "bus/client/claims.hpp"
#include "bus/client/dealer_connection.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace runwire::client {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t lanes_max = 1024;  ///< Kept for the memory of a refusal alone.

Instant now_is() {
  return std::chrono::steady_clock::now();
}

/// A request over these would not be refused but cut off with its connection, again and again.
Status check_sizes(const wire::Append& request) {
  const auto too_large = [](const char* what, std::size_t index, std::size_t limit) {
    return fail(Error{ErrorCode::too_large, std::string("append: ") + what, {}}
                    .with("index", index)
                    .with("limit", limit));
  };
  if (request.subject.size() > limits::subject_bytes_max) {
    return too_large("the subject is too long", 0, limits::subject_bytes_max);
  }
  for (std::size_t index = 0; index < request.events.size(); ++index) {
    const Draft& draft = request.events[index];
    if (draft.data.size() > limits::data_bytes_max) {
      return too_large("the data of an event is over its bound", index, limits::data_bytes_max);
    }
    if (draft.type.size() > limits::type_bytes_max) {
      return too_large("the type of an event is too long", index, limits::type_bytes_max);
    }
    std::size_t location = 0;
    for (const auto& [key, value] : draft.location)
      location += key.size() + value.size();
    constexpr std::size_t location_max =
        limits::location_entries_max * (limits::location_value_bytes_max + limits::type_bytes_max);
    if (location > location_max)
      return too_large("the location of an event is too large", index, location_max);
  }
  return {};
}

bool ends_run(const Draft& draft) {
  return draft.type == "run.completed" || draft.type == "run.failed" ||
         draft.type == "run.cancelled";
}

/// True while a `done` runs, however it ends.
class Telling {
 public:
  explicit Telling(bool& flag) : flag_(flag) { flag_ = true; }
  ~Telling() { flag_ = false; }
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;
  Telling(Telling&&) = delete;
  Telling& operator=(Telling&&) = delete;

 private:
  bool& flag_;
};

class LinkAppender final : public Appender {
 public:
  LinkAppender(const AppenderOptions& options, std::unique_ptr<DealerConnection> connection)
      : options_(options), connection_(std::move(connection)) {}

  Result<Appended> append(const std::string& subject, std::vector<Draft> events) override;
  Result<Appended> append(wire::Append request) override;
  Status submit(wire::Append request,
                std::move_only_function<void(Result<Appended>)> done) override;
  Status flush() override;
  Status idle(milliseconds time) override;
  Status claim(const std::string& subject, Epoch epoch) override;
  [[nodiscard]] Connection& connection() override { return *connection_; }

 private:
  [[nodiscard]] Link& link() { return connection_->link(); }
  [[nodiscard]] Status check_outside() const;
  void enqueue(wire::Append request, std::move_only_function<void(Result<Appended>)> done);
  Status pump();
  Status pump_or_wait(Instant until);
  void take_replies(Instant now);
  void take_append(const std::string& subject, wire::Reply reply, Instant now);
  void tidy(const std::string& subject);
  Status send_claims(Instant now);
  Status send_appends(Instant now);
  void tell();

  AppenderOptions options_;
  std::unique_ptr<DealerConnection> connection_;
  SystemIds ids_{};
  SystemClock clock_{};
  Claims claims_{};
  std::map<std::string, AppendLane> lanes_{};
  std::set<std::string> waiting_{};               ///< Lanes with something to send.
  std::map<std::uint64_t, std::string> asked_{};  ///< The lane of each append under way, by rid.
  std::deque<AppendLane::Finished> finished_{};   ///< To be told.
  std::size_t open_ = 0;                          ///< Submissions that were not told yet.
  bool telling_ = false;
};

Status LinkAppender::check_outside() const {
  if (!telling_) return {};
  return fail(ErrorCode::invalid, "appender: only submit() may be called while `done` runs");
}

Result<Appended> LinkAppender::append(const std::string& subject, std::vector<Draft> events) {
  wire::Append request;
  request.subject = subject;
  request.events = std::move(events);
  request.level = options_.level;
  return append(std::move(request));
}

Result<Appended> LinkAppender::append(wire::Append request) {
  if (Status outside = check_outside(); !outside) return fail(outside.error());
  const auto answer = std::make_shared<std::optional<Result<Appended>>>();
  const auto keep = [answer](Result<Appended> result) { *answer = std::move(result); };
  if (Status taken = submit(std::move(request), keep); !taken) return fail(taken.error());
  while (!*answer) {
    if (Status moved = pump_or_wait(now_is() + bounds::retry_max); !moved)
      return fail(moved.error());
  }
  return std::move(**answer);
}

Status LinkAppender::submit(wire::Append request,
                            std::move_only_function<void(Result<Appended>)> done) {
  if (Status here = link().check_here(); !here) return here;
  if (request.events.empty()) return fail(ErrorCode::invalid, "append: there are no events");
  if (Status sizes = check_sizes(request); !sizes) return sizes;
  const std::size_t in_flight_max = std::max<std::size_t>(options_.in_flight_max, 1);
  if (telling_ && open_ >= in_flight_max) {
    return fail(ErrorCode::backpressure, "append: as many are under way as the appender may have");
  }
  while (!telling_ && open_ >= in_flight_max) {
    if (Status moved = pump_or_wait(now_is() + bounds::retry_max); !moved) return moved;
  }
  enqueue(std::move(request), std::move(done));
  return telling_ ? Status() : pump();
}

void LinkAppender::enqueue(wire::Append request,
                           std::move_only_function<void(Result<Appended>)> done) {
  for (Draft& draft : request.events) {
    if (draft.id == EventId{}) draft.id = ids_.event_id(clock_.wall());
  }
  const std::string subject = request.subject;
  Submission submission;
  submission.request = std::move(request);
  submission.deadline = now_is() + options_.deadline;
  submission.done = std::move(done);
  ++open_;
  AppendLane& lane = lanes_[subject];
  lane.add(std::move(submission));
  if (lane.waits()) waiting_.insert(subject);
}

Status LinkAppender::flush() {
  if (Status outside = check_outside(); !outside) return outside;
  while (open_ > 0) {
    if (Status moved = pump_or_wait(now_is() + bounds::retry_max); !moved) return moved;
  }
  return {};
}

Status LinkAppender::idle(milliseconds time) {
  if (Status outside = check_outside(); !outside) return outside;
  const Instant until = now_is() + time;
  do {
    if (Status moved = pump_or_wait(until); !moved) return moved;
  } while (now_is() < until);
  return {};
}

Status LinkAppender::claim(const std::string& subject, Epoch epoch) {
  if (Status outside = check_outside(); !outside) return outside;
  if (!claims_.has_room(subject)) {
    return fail(
        Error{ErrorCode::too_large, "claim: as many runs are held as one client may hold", {}}.with(
            "limit", bounds::claims_max));
  }
  const Result<Answered> answered = link().call(wire::Claim{subject, epoch});
  if (!answered) return fail(answered.error());
  if (answered->reply.error) return fail(*answered->reply.error);
  const auto* granted = std::get_if<wire::ClaimReply>(&answered->reply.answer);
  if (granted == nullptr)
    return fail(ErrorCode::invalid, "claim: the reply does not match its request");
  const std::uint64_t lease_ms = std::clamp<std::uint64_t>(granted->lease_ms, 1, 3'600'000);
  claims_.hold(subject, epoch, milliseconds(lease_ms), now_is());
  return {};
}

Status LinkAppender::pump() {
  if (Status turned = link().turn(); !turned) return turned;
  const Instant now = now_is();
  take_replies(now);
  // Claims first: what is appended behind them needs them.
  if (Status sent = send_claims(now); !sent) return sent;
  if (Status sent = send_appends(now); !sent) return sent;
  tell();
  return {};
}

Status LinkAppender::pump_or_wait(Instant until) {
  const std::size_t before = open_;
  if (Status moved = pump(); !moved) return moved;
  if (open_ < before) return {};
  for (const std::string& subject : waiting_)
    until = std::min(until, lanes_.at(subject).due());
  return link().wait(until);
}

void LinkAppender::take_replies(Instant now) {
  while (std::optional<Answered> answered = link().take(Link::Channel::work)) {
    wire::Reply& reply = answered->reply;
    if (claims_.answered(reply)) continue;
    const auto found = asked_.find(reply.rid);
    if (found == asked_.end()) continue;
    const std::string subject = std::move(found->second);
    asked_.erase(found);
    take_append(subject, std::move(reply), now);
  }
}

void LinkAppender::take_append(const std::string& subject, wire::Reply reply, Instant now) {
  std::vector<AppendLane::Finished> finished;
  AppendLane& lane = lanes_.at(subject);
  lane.answered(std::move(reply), now, [&] { return claims_.again(subject); }, finished);
  for (AppendLane::Finished& one : finished) {
    if (one.result) {
      const auto& events = one.submission.request.events;
      const auto taken = static_cast<std::ptrdiff_t>(one.result->reply.taken);
      if (std::any_of(events.begin(), events.begin() + taken, ends_run)) claims_.forget(subject);
    }
    finished_.push_back(std::move(one));
  }
  tidy(subject);
}

void LinkAppender::tidy(const std::string& subject) {
  const AppendLane& lane = lanes_.at(subject);
  if (lane.waits()) {
    waiting_.insert(subject);
  } else if (lane.empty() && (!lane.goes_on() || lanes_.size() > lanes_max)) {
    lanes_.erase(
        subject);  // A forgotten refusal costs one more request: `out_of_order`, then go_on.
  }
}

Status LinkAppender::send_claims(Instant now) {
  while (link().has_room()) {
    const std::optional<wire::Operation> operation = claims_.next(now, link().term());
    if (!operation) break;
    const Result<std::uint64_t> rid = link().submit(*operation, Link::Channel::work);
    if (!rid) return fail(rid.error());
    claims_.sent(*rid, *operation);
  }
  return {};
}

Status LinkAppender::send_appends(Instant now) {
  for (auto entry = waiting_.begin(); entry != waiting_.end() && link().has_room();) {
    AppendLane& lane = lanes_.at(*entry);
    if (lane.due() > now) {
      ++entry;
      continue;
    }
    wire::Append request = lane.make_request(claims_.epoch_of(*entry));
    const auto left = std::chrono::ceil<milliseconds>(lane.deadline() - now);
    const Result<std::uint64_t> rid =
        link().submit(std::move(request), Link::Channel::work, std::max(left, bounds::retry_first));
    if (!rid) return fail(rid.error());
    asked_.emplace(*rid, *entry);
    entry = waiting_.erase(entry);
  }
  return {};
}

void LinkAppender::tell() {
  const Telling telling(telling_);
  while (!finished_.empty()) {
    AppendLane::Finished one = std::move(finished_.front());
    finished_.pop_front();
    --open_;
    if (one.submission.done) one.submission.done(std::move(one.result));
  }
}

}  // namespace

Result<std::unique_ptr<Appender>> Appender::open(const AppenderOptions& options) {
  Result<std::unique_ptr<DealerConnection>> connection = DealerConnection::open(options.connect);
  if (!connection) return fail(connection.error());
  return std::unique_ptr<Appender>(std::make_unique<LinkAppender>(options, std::move(*connection)));
}

}  // namespace runwire::client
