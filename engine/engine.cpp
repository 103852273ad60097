#include "engine/engine.hpp"

#include "codec/base/check.hpp"
#include "codec/base/limits.hpp"
#include "engine/base/mailbox.hpp"
#include "engine/core.hpp"
#include "engine/log/staged.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <variant>

namespace runwire {
namespace {

struct OperationCommand {
  wire::Operation operation{};
  InstanceId client{};
  Respond respond{};
};
using Command = std::variant<std::unique_ptr<Staged>, OperationCommand, wire::Ack>;

/// Refusals of a full queue still travel through it, so that what an appender pipelined behind the
/// refused append is refused too; they need room beyond the bound, and so do acks and completions.
constexpr std::size_t mailbox_items_max = limits::queue_commands_max * 2;

Error queue_full() {
  return Error{
      ErrorCode::backpressure, "the engine's queue is full; retry the same append later", {}}
      .with("limit", limits::queue_commands_max);
}

}  // namespace

Status validate(const EngineOptions& options) {
  const auto bad = [](std::string message) { return fail(ErrorCode::invalid, std::move(message)); };
  if (options.required.size() > limits::observers_max) {
    return fail(Error{ErrorCode::too_large, "required: too many observers", {}}.with(
        "limit", limits::observers_max));
  }
  for (std::size_t at = 0; at < options.required.size(); ++at) {
    if (auto status = check_observer_name(options.required[at]); !status) return status;
    for (std::size_t other = 0; other < at; ++other) {
      if (options.required[other] == options.required[at]) {
        return fail(Error{ErrorCode::invalid, "required: an observer is named twice", {}}.with(
            "observer", options.required[at]));
      }
    }
  }
  for (const auto& [name, policy] : options.policies) {
    if (std::ranges::find(options.required, name) == options.required.end()) {
      return fail(Error{ErrorCode::invalid, "policies: not a required observer", {}}.with(
          "observer", name));
    }
    if (policy.skip_after > limits::skip_after_max) {
      return fail(Error{ErrorCode::too_large, "skip_after: too many refusals", {}}.with(
          "limit", limits::skip_after_max));
    }
  }
  if (options.ack_deadline.count() <= 0) return bad("ack_deadline: must be above 0");
  if (options.lease.count() <= 0) return bad("lease: must be above 0");
  if (options.in_flight_events_max == 0) return bad("in_flight_events_max: must be above 0");
  if (options.in_flight_bytes_max == 0) return bad("in_flight_bytes_max: must be above 0");
  if (options.window_events_max == 0) return bad("window_events_max: must be above 0");
  if (options.window_bytes_max < limits::event_bytes_max) {
    return bad("window_bytes_max: must hold at least one event");
  }
  return {};
}

/// The threads: one drives the core, one writes and syncs. Between them a batch at a time.
class Engine::Impl {
 public:
  Impl(std::unique_ptr<Store> store, Ports ports, const Clock& clock)
      : store_(std::move(store)), ports_(std::move(ports)), clock_(clock) {}
  ~Impl() { stop(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  Impl(Impl&&) = delete;
  Impl& operator=(Impl&&) = delete;

  Status open(const EngineOptions& options, IdSource& ids) {
    auto core = Core::open(options,
                           {.store = *store_,
                            .clock = clock_,
                            .ids = ids,
                            .observers = ports_.observers,
                            .live = ports_.live,
                            .moved = [this](const Positions& now) { publish(now); },
                            .failed = [this](const Error& error) { fail_store(error); },
                            .claims = &claims_});
    if (!core) return fail(std::move(core.error()));
    core_ = std::move(*core);
    publish(core_->positions());
    store_thread_ = std::thread([this] { run_store(); });
    core_thread_ = std::thread([this] { run_core(); });
    return {};
  }

  void append(wire::Append&& request, InstanceId client, bool local, Respond respond) {
    auto staged = stage(std::move(request), client);
    staged->local = local;
    staged->respond = std::move(respond);
    if (mailbox_.size() >= limits::queue_commands_max) {
      staged->events.clear();
      staged->refusal = queue_full();
    }
    Command command{std::move(staged)};
    if (const Offer offer = mailbox_.try_push(command); offer != Offer::accepted) {
      auto& back = std::get<std::unique_ptr<Staged>>(command);
      back->respond({.answer = {}, .error = refused(offer)});
    }
  }

  void submit(wire::Operation&& operation, InstanceId client, Respond respond) {
    Command command{OperationCommand{std::move(operation), client, std::move(respond)}};
    if (const Offer offer = mailbox_.try_push(command); offer != Offer::accepted) {
      std::get<OperationCommand>(command).respond({.answer = {}, .error = refused(offer)});
    }
  }

  void acknowledge(wire::Ack&& ack) {
    Command command{std::move(ack)};
    // A full queue loses the ack, not the event: it is sent again at its deadline.
    if (mailbox_.try_push(command) != Offer::accepted) acks_dropped_.fetch_add(1);
  }

  [[nodiscard]] const Store& store() const { return *store_; }

  [[nodiscard]] std::optional<Error> failed() const {
    const std::scoped_lock lock(failed_mutex_);
    return failed_;
  }

  [[nodiscard]] std::optional<Epoch> claimed(const std::string& subject) const {
    return claims_.epoch_of(subject);
  }

  [[nodiscard]] Positions positions() const {
    return {.appended = {appended_.load(std::memory_order_acquire)},
            .committed = {committed_.load(std::memory_order_acquire)},
            .acknowledged = {acknowledged_.load(std::memory_order_acquire)},
            .published = {published_.load(std::memory_order_acquire)}};
  }

  void stop() {
    const std::scoped_lock lock(stopping_);
    mailbox_.close();
    stop_.store(true);
    mailbox_.wakeup()
        .raise();  // The core may have woken for the close, and not have seen this yet.
    if (core_thread_.joinable()) core_thread_.join();
    to_store_.close();
    if (store_thread_.joinable()) store_thread_.join();
  }

 private:
  static Error refused(Offer offer) {
    if (offer == Offer::full) return queue_full();
    return {ErrorCode::closed, "the engine is shutting down; connect again and retry", {}};
  }

  void run_core() {
    std::vector<Command> commands;
    for (;;) {
      const bool stopping = stop_.load();
      mailbox_.drain(commands);
      take_completion();
      for (Command& command : commands)
        take(command);
      std::size_t work = commands.size() + core_->turn();
      work += feed_store();
      if (stopping && commands.empty() && !core_->has_work()) break;
      if (work == 0) mailbox_.wakeup().wait(pause());
    }
    core_->close();
    core_running_.store(false);
  }

  void take(Command& command) {
    if (auto* staged = std::get_if<std::unique_ptr<Staged>>(&command)) {
      core_->take(std::move(*staged));
    } else if (auto* operation = std::get_if<OperationCommand>(&command)) {
      core_->take(
          std::move(operation->operation), operation->client, std::move(operation->respond));
    } else if (const auto* ack = std::get_if<wire::Ack>(&command)) {
      core_->take(*ack);
    }
  }

  /// The store thread answers past the mailbox's bound: one batch is under way, so one slot is
  /// enough.
  void take_completion() {
    std::optional<Status> written;
    {
      const std::scoped_lock lock(written_mutex_);
      written.swap(written_);
    }
    if (written) core_->completed(*written);
  }

  std::size_t feed_store() {
    const bool was_writing = core_->writing();
    const std::span<const Record> records = core_->next_batch();
    if (was_writing || !core_->writing()) return 0;
    std::span<const Record> batch = records;
    check(to_store_.try_push(batch) == Offer::accepted, "the store takes one batch at a time");
    return 1;
  }

  void run_store() {
    std::vector<std::span<const Record>> batches;
    for (;;) {
      if (to_store_.drain(batches) == 0) {
        if (stop_.load() && !core_thread_running()) return;
        to_store_.wakeup().wait(std::chrono::milliseconds(100));
        continue;
      }
      for (const auto records : batches) {
        Status status = store_->append(records);
        {
          const std::scoped_lock lock(written_mutex_);
          written_ = std::move(status);
        }
        mailbox_.wakeup().raise();
      }
    }
  }

  [[nodiscard]] bool core_thread_running() const { return core_running_.load(); }

  [[nodiscard]] std::chrono::milliseconds pause() const {
    constexpr std::chrono::milliseconds longest{1'000};
    const auto due = core_->next_due();
    if (!due) return longest;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - clock_.now());
    return std::clamp(left, std::chrono::milliseconds{0}, longest);
  }

  /// Before anybody is answered or shown anything: whoever hears of an event can read it.
  void publish(const Positions& now) {
    appended_.store(now.appended.value, std::memory_order_release);
    committed_.store(now.committed.value, std::memory_order_release);
    acknowledged_.store(now.acknowledged.value, std::memory_order_release);
    published_.store(now.published.value, std::memory_order_release);
    if (ports_.moved) ports_.moved(now);
  }

  void fail_store(const Error& error) {
    const std::scoped_lock lock(failed_mutex_);
    failed_ = error;
  }

  std::unique_ptr<Store> store_;
  Ports ports_;
  const Clock& clock_;
  std::unique_ptr<Core> core_{};
  Mailbox<Command> mailbox_{mailbox_items_max};
  Mailbox<std::span<const Record>> to_store_{1};
  std::mutex written_mutex_;
  std::optional<Status> written_{};
  mutable std::mutex failed_mutex_;
  std::optional<Error> failed_{};
  ClaimBoard claims_{};
  std::atomic<std::uint64_t> appended_{0};
  std::atomic<std::uint64_t> committed_{0};
  std::atomic<std::uint64_t> acknowledged_{0};
  std::atomic<std::uint64_t> published_{0};
  std::atomic<std::uint64_t> acks_dropped_{0};
  std::atomic<bool> stop_{false};
  std::atomic<bool> core_running_{true};
  std::mutex stopping_;
  std::thread core_thread_{};
  std::thread store_thread_{};
};

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::open(EngineOptions options,
                                             std::unique_ptr<Store> store,
                                             Ports ports,
                                             const Clock& clock,
                                             IdSource& ids) {
  auto impl = std::make_unique<Impl>(std::move(store), std::move(ports), clock);
  if (auto status = impl->open(options, ids); !status) return fail(std::move(status.error()));
  return std::unique_ptr<Engine>(new Engine(std::move(impl)));
}

void Engine::append(wire::Append&& request, InstanceId client, bool local, Respond respond) {
  impl_->append(std::move(request), client, local, std::move(respond));
}

void Engine::submit(wire::Operation&& operation, InstanceId client, Respond respond) {
  impl_->submit(std::move(operation), client, std::move(respond));
}

void Engine::acknowledge(wire::Ack&& ack) {
  impl_->acknowledge(std::move(ack));
}
const Store& Engine::store() const {
  return impl_->store();
}
std::optional<Error> Engine::failed() const {
  return impl_->failed();
}
std::optional<Epoch> Engine::claimed(const std::string& subject) const {
  return impl_->claimed(subject);
}
Positions Engine::positions() const {
  return impl_->positions();
}
void Engine::stop() {
  impl_->stop();
}

}  // namespace runwire
