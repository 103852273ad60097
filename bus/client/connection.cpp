#include "bus/client/connection.hpp"

#include "bus/client/dealer_connection.hpp"

#include <cstdlib>
#include <unistd.h>

namespace runwire::client {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody here sets it.
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

std::string default_endpoint() {
  if (std::string url = environment("RUNWIRE_URL"); !url.empty()) return url;
  if (const std::string runtime = environment("XDG_RUNTIME_DIR"); !runtime.empty()) {
    return "ipc://" + runtime + "/runwire/requests";
  }
  return "ipc:///tmp/runwire-" + std::to_string(::getuid()) + "/requests";
}

Result<std::unique_ptr<Connection>> Connection::open(const ConnectOptions& options) {
  Result<std::unique_ptr<DealerConnection>> connection = DealerConnection::open(options);
  if (!connection) return fail(connection.error());
  return std::unique_ptr<Connection>(std::move(*connection));
}

Result<std::unique_ptr<DealerConnection>> DealerConnection::open(const ConnectOptions& options) {
  Result<std::unique_ptr<Link>> link = Link::open(options);
  if (!link) return fail(link.error());
  return std::unique_ptr<DealerConnection>(new DealerConnection(std::move(*link)));
}

Result<Answered> DealerConnection::call(wire::Operation operation) {
  return link_->call(std::move(operation));
}

Result<std::uint64_t> DealerConnection::submit(wire::Operation operation) {
  return link_->submit(std::move(operation), Link::Channel::user);
}

Result<std::optional<Answered>> DealerConnection::receive(std::chrono::milliseconds timeout) {
  const Instant until = std::chrono::steady_clock::now() + timeout;
  while (true) {
    if (Status turned = link_->turn(); !turned) return fail(turned.error());
    if (std::optional<Answered> answered = link_->take(Link::Channel::user)) return answered;
    if (std::chrono::steady_clock::now() >= until) return std::optional<Answered>();
    if (Status waited = link_->wait(until); !waited) return fail(waited.error());
  }
}

std::size_t DealerConnection::outstanding() const {
  return link_->outstanding(Link::Channel::user);
}

}  // namespace runwire::client
