#pragma once

#include "bus/client/connection.hpp"
#include "bus/client/link.hpp"

namespace runwire::client {

/// The Connection that there is: a Link, seen from a user. Clients built upon it share the link.
class DealerConnection final : public Connection {
 public:
  static Result<std::unique_ptr<DealerConnection>> open(const ConnectOptions& options);

  [[nodiscard]] const wire::HelloReply& server() const override { return link_->server(); }
  [[nodiscard]] LogId log() const override { return link_->log(); }
  [[nodiscard]] Term term() const override { return link_->term(); }
  [[nodiscard]] InstanceId client() const override { return link_->client(); }
  Result<Answered> call(wire::Operation operation) override;
  Result<std::uint64_t> submit(wire::Operation operation) override;
  Result<std::optional<Answered>> receive(std::chrono::milliseconds timeout) override;
  [[nodiscard]] std::size_t outstanding() const override;

  [[nodiscard]] Link& link() { return *link_; }

 private:
  explicit DealerConnection(std::unique_ptr<Link> link) : link_(std::move(link)) {}
  std::unique_ptr<Link> link_;
};

}  // namespace runwire::client
