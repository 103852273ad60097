#include "engine/core.hpp"

#include "codec/base/check.hpp"
#include "codec/base/limits.hpp"
#include "codec/wire/event_codec.hpp"

#include <algorithm>
#include <utility>

namespace runwire {
namespace {

ObserverBounds bounds_of(const EngineOptions& options) {
  return {.in_flight_events_max = options.in_flight_events_max,
          .in_flight_bytes_max = options.in_flight_bytes_max,
          .ack_deadline = options.ack_deadline};
}

std::map<std::string, std::uint64_t> skip_after(const EngineOptions& options) {
  std::map<std::string, std::uint64_t> by_name;
  for (const auto& [name, policy] : options.policies)
    by_name.emplace(name, policy.skip_after);
  return by_name;
}

void say_no(Respond& respond, Error error) {
  respond({.answer = {}, .error = std::move(error)});
}

}  // namespace

Core::Core(const EngineOptions& options, const World& world)
    : options_(options),
      world_(world),
      subjects_(world.store),
      observers_(options.required,
                 options.new_observers_from_start,
                 world.store,
                 bounds_of(options),
                 skip_after(options)),
      live_(world.live, observers_.acknowledged(world.store.last())),
      admission_({.store = world.store,
                  .clock = world.clock,
                  .ids = world.ids,
                  .subjects = subjects_,
                  .window = window_,
                  .live = live_},
                 {.window_events_max = options.window_events_max,
                  .window_bytes_max = options.window_bytes_max}),
      claims_(options.lease, world.claims),
      committed_(world.store.last()),
      acknowledged_(observers_.acknowledged(world.store.last())) {}

Result<std::unique_ptr<Core>> Core::open(const EngineOptions& options, const World& world) {
  if (auto status = validate(options); !status) return fail(std::move(status.error()));
  std::unique_ptr<Core> core(new Core(options, world));
  if (auto status = core->recover(); !status) return fail(std::move(status.error()));
  return core;
}

void Core::take(std::unique_ptr<Staged> staged) {
  ++appends_;
  Respond respond = std::move(staged->respond);
  const bool acknowledged = staged->level == wire::Level::acknowledged;
  const auto deadline = staged->deadline.value_or(options_.ack_deadline);
  if (store_failed_) {
    ++refused_;
    return say_no(respond, *store_failed_);
  }
  Admitted admitted = admission_.admit(std::move(staged));
  if (admitted.error) ++refused_;
  admitted.reply.sync = world_.store.sync_mode() == SyncMode::always ? "always" : "none";
  Outcome outcome{.answer = std::move(admitted.reply), .error = std::move(admitted.error)};
  const bool already = admitted.last <= committed_;
  if (already && (!acknowledged || admitted.last <= acknowledged_))
    return respond(std::move(outcome));
  Waiting waiting{.outcome = std::move(outcome),
                  .respond = std::move(respond),
                  .acknowledged = acknowledged,
                  .first = admitted.first,
                  .last = admitted.last,
                  .last_seq = admitted.last_seq,
                  .due = world_.clock.now() + deadline};
  if (already) {
    receipts_.add(std::move(waiting));
  } else {
    admission_.building().waiting.push_back(std::move(waiting));
  }
}

std::span<const Record> Core::next_batch() {
  if (in_flight_ != nullptr || store_failed_) return {};
  const Instant now = world_.clock.now();
  const bool acks_due = observers_.acks_due() && *observers_.acks_due() <= now;
  if (admission_.has_work() || acks_due) observers_.record_acks(admission_);
  if (!admission_.has_work()) return {};
  auto sealed = admission_.seal();
  in_flight_ = sealed.get();
  if (sealed->numbered.empty()) {
    control_only_ = std::move(sealed);
  } else {
    window_.add(std::move(sealed));
  }
  return in_flight_->records;
}

void Core::completed(const Status& written) {
  check(in_flight_ != nullptr, "a batch was being written");
  if (!written) return fail_batch(written.error());
  ++batches_;
  if (in_flight_->last > committed_) {
    committed_ = in_flight_->last;
    if (world_.moved) world_.moved(positions());
  }
  for (Waiting& waiting : in_flight_->waiting) {
    if (waiting.acknowledged && waiting.last > acknowledged_) {
      receipts_.add(std::move(waiting));
    } else {
      waiting.respond(std::move(waiting.outcome));
    }
  }
  in_flight_->waiting.clear();
  in_flight_ = nullptr;
  control_only_.reset();
}

void Core::fail_batch(const Error& error) {
  const bool full = error.code == ErrorCode::store_full;
  std::vector<Waiting> told = std::move(in_flight_->waiting);
  std::ranges::move(admission_.building().waiting, std::back_inserter(told));
  in_flight_ = nullptr;
  control_only_.reset();
  Status taken_back{};
  if (full) taken_back = take_back_from_store();
  if (!full || !taken_back) {
    store_failed_ = full ? taken_back.error() : error;
    if (world_.failed) world_.failed(*store_failed_);
  }
  for (Waiting& waiting : told)
    say_no(waiting.respond, error);
}

Status Core::take_back_from_store() {
  std::vector<Subject*> touched;
  for (const Numbered& event : window_.all()) {
    if (event.position > committed_) touched.push_back(event.subject);
  }
  for (const Numbered& event : admission_.building().numbered)
    touched.push_back(event.subject);
  std::ranges::sort(touched);
  const auto [first, end] = std::ranges::unique(touched);
  touched.erase(first, end);
  window_.drop_after(committed_);
  admission_.take_back(committed_);
  for (Subject* subject : touched) {
    auto info = world_.store.find_subject(subject->name);
    if (!info) return fail(std::move(info.error()));
    const SubjectInfo stored = info->value_or(SubjectInfo{});
    subject->last = stored.last;
    subject->state = stored.state;
    subject->unpublished =
        static_cast<std::uint64_t>(std::ranges::count(window_.all(), subject, &Numbered::subject));
    subject->machine.reset();
    if (subject->state != RunState::open) continue;
    auto machine = rebuild_machine(world_.store, subject->name);
    if (!machine) return fail(std::move(machine.error()));
    subject->machine = std::move(*machine);
  }
  return {};
}

Backlog Core::backlog() const {
  return [this](Position after, Position upto, PageBounds bounds) -> Result<Page> {
    if (window_.holds(next(after))) return window_.read(after, upto, bounds);
    return world_.store.read_log(after, upto, bounds);
  };
}

std::size_t Core::turn() {
  const Instant now = world_.clock.now();
  end_lapsed(now);
  std::size_t work = observers_.advance(committed_, now, backlog(), world_.observers);
  publish_up_to(observers_.acknowledged(committed_));
  work += receipts_.answer(acknowledged_, now, [this](Position position) {
    const RequiredObserver* late = observers_.late_for(position);
    return late == nullptr ? std::string{} : late->name();
  });
  subjects_.forget_idle();
  return work;
}

void Core::publish_up_to(Position limit) {
  if (limit > acknowledged_) {
    acknowledged_ = limit;
    if (world_.moved) world_.moved(positions());
  }
  live_.acknowledge(acknowledged_);
  while (!window_.empty() && window_.front().position <= acknowledged_) {
    live_.publish(window_.front());
    window_.pop_front();
  }
  live_.flush();
}

void Core::end_lapsed(Instant now) {
  for (Subject* subject : claims_.lapsed(now)) {
    const Epoch epoch = subject->claim->epoch;
    subject->claim.reset();
    admission_.control({.kind = RecordKind::claim, .number = epoch.value}, subject->name, {});
    admission_.end_run(*subject, Cause::owner_lost);
  }
}

std::optional<Instant> Core::next_due() const {
  std::optional<Instant> due = observers_.next_due();
  const auto earlier = [&](std::optional<Instant> other) {
    if (other && (!due || *other < *due)) due = other;
  };
  earlier(claims_.next_due());
  earlier(receipts_.next_due());
  return due;
}

Positions Core::positions() const {
  return {.appended = admission_.appended(),
          .committed = committed_,
          .acknowledged = acknowledged_,
          .published = live_.published()};
}

void Core::close() {
  const Error closed{ErrorCode::closed, "the engine has stopped; connect again and retry", {}};
  receipts_.close(closed);
  for (Waiting& waiting : admission_.building().waiting)
    say_no(waiting.respond, closed);
  admission_.building().waiting.clear();
}

}  // namespace runwire
