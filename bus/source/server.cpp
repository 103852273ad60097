#include "bus/source/server.hpp"

#include "bus/source/counters.hpp"
#include "bus/source/endpoints.hpp"
#include "bus/source/live_thread.hpp"
#include "bus/source/requests.hpp"
#include "bus/zmq/socket.hpp"

#include <utility>

namespace runwire::bus {
namespace {

std::string sync_name(SyncMode mode) {
  return mode == SyncMode::always ? "always" : "none";
}

std::uint64_t millis(std::chrono::milliseconds time) {
  return static_cast<std::uint64_t>(time.count());
}

}  // namespace

/// Members in the order of their lives: sockets go before the engine, the engine before its sinks.
class Server::Impl {
 public:
  Impl(const ServerOptions& options, Endpoints endpoints, const Store& store, const Clock& clock)
      : identity_{.log = store.log_id(), .term = store.term()},
        live_({.endpoints = endpoints,
               .identity = identity_,
               .ack_deadline_ms = millis(options.engine.ack_deadline),
               .in_flight_events_max = options.engine.in_flight_events_max},
              context_,
              store,
              clock,
              counters_),
        endpoints_(std::move(endpoints)) {}
  ~Impl() { stop(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  Impl(Impl&&) = delete;
  Impl& operator=(Impl&&) = delete;

  Status open(const ServerOptions& options,
              std::unique_ptr<Store> store,
              const Clock& clock,
              IdSource& ids) {
    if (auto bound = live_.bind(); !bound) return bound;
    requests_ = std::make_unique<Requests>(Requests::Options{.endpoint = endpoints_.requests(),
                                                             .identity = identity_,
                                                             .hello = hello(options, *store)},
                                           context_,
                                           clock,
                                           counters_);
    auto engine = Engine::open(options.engine,
                               std::move(store),
                               {.observers = &live_,
                                .live = &live_,
                                .moved = [this](const Positions&) { requests_->moved(); }},
                               clock,
                               ids);
    if (!engine) return fail(std::move(engine.error()));
    engine_ = std::move(*engine);
    live_.serve(*engine_);
    return requests_->serve(*engine_);
  }

  void stop() {
    if (requests_) requests_->close();
    if (engine_) engine_->stop();
    if (requests_) requests_->stop();
    live_.stop();
  }

  [[nodiscard]] const std::string& endpoint() const { return requests_->endpoint(); }
  [[nodiscard]] Engine& engine() { return *engine_; }
  [[nodiscard]] std::optional<Error> failed() const { return engine_->failed(); }

 private:
  [[nodiscard]] wire::HelloReply hello(const ServerOptions& options, const Store& store) const {
    return {.server = options.name,
            .versions = {wire::protocol_major},
            .live = live_.live_endpoint(),
            .acks = live_.acks_endpoint(),
            .heartbeat_ms = millis(limits::heartbeat),
            .lease_ms = millis(options.engine.lease),
            .ack_deadline_ms = millis(options.engine.ack_deadline),
            .sync = sync_name(store.sync_mode())};
  }

  LogIdentity identity_;
  Context context_{};
  Counters counters_{};
  LiveThread live_;
  Endpoints endpoints_;
  std::unique_ptr<Requests> requests_{};
  std::unique_ptr<Engine> engine_{};
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::open(const ServerOptions& options,
                                             std::unique_ptr<Store> store,
                                             const Clock& clock,
                                             IdSource& ids) {
  if (auto status = validate(options.engine); !status) return fail(std::move(status.error()));
  auto endpoints = Endpoints::beside(options.listen);
  if (!endpoints) return fail(std::move(endpoints.error()));
  auto impl = std::make_unique<Impl>(options, std::move(*endpoints), *store, clock);
  if (auto status = impl->open(options, std::move(store), clock, ids); !status) {
    return fail(std::move(status.error()));
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

const std::string& Server::endpoint() const {
  return impl_->endpoint();
}
Engine& Server::engine() {
  return impl_->engine();
}
std::optional<Error> Server::failed() const {
  return impl_->failed();
}
void Server::stop() {
  impl_->stop();
}

}  // namespace runwire::bus
