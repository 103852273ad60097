#pragma once

#include "codec/base/clock.hpp"
#include "codec/base/ids.hpp"
#include "codec/base/result.hpp"
#include "engine/engine.hpp"
#include "engine/store/store.hpp"

#include <memory>
#include <optional>
#include <string>

namespace runwire::bus {

struct ServerOptions {
  std::string listen{};  ///< ipc or loopback tcp; the other sockets are beside it.
  EngineOptions engine{};
  std::string name{"runwire"};  ///< What `hello` says that this is.
};

/// An engine behind sockets: requests, live events, required observers.
///
/// Threads: four of its own (core, store, requests, live) and ZeroMQ's one; every member may be
/// called from the thread that opened it. Lifetime: `clock` and `ids` must outlive it.
/// Errors: `invalid` options, `locked` or `unavailable` endpoints, and those of the store.
class Server {
 public:
  static Result<std::unique_ptr<Server>> open(const ServerOptions& options,
                                              std::unique_ptr<Store> store,
                                              const Clock& clock,
                                              IdSource& ids);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  Server(Server&&) = delete;
  Server& operator=(Server&&) = delete;

  /// Where clients connect, with the real port.
  [[nodiscard]] const std::string& endpoint() const;
  [[nodiscard]] Engine& engine();

  /// Why nothing is written any more (a failed sync, a broken disk); nothing while all is well.
  /// Reads, live events and observers go on; only a new process can write again. Any thread.
  [[nodiscard]] std::optional<Error> failed() const;

  /// Takes nothing new, writes and answers what was taken, sends what was published. Idempotent.
  void stop();

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace runwire::bus
