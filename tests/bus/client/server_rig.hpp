#pragma once

#include "bus/client/appender.hpp"
#include "bus/source/server.hpp"
#include "engine/store/open.hpp"
#include "engine/store/sim_disk.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace runwire::test {

/// A folder of its own for sockets, removed at the end.
class SocketFolder {
 public:
  SocketFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "runwire-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~SocketFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  SocketFolder(const SocketFolder&) = delete;
  SocketFolder& operator=(const SocketFolder&) = delete;
  SocketFolder(SocketFolder&&) = delete;
  SocketFolder& operator=(SocketFolder&&) = delete;
  [[nodiscard]] std::string endpoint() const { return "ipc://" + path_ + "/requests"; }

 private:
  std::string path_{};
};

/// A real server on real sockets over a simulated disk; it can be stopped and started again at the
/// same endpoint, with its log or with another one.
class ServerRig {
 public:
  explicit ServerRig(EngineOptions engine = {}) : engine_(std::move(engine)) { start(); }

  void start() {
    auto store = open_segments_on(*disk_, {.directory = "log"}, ids_, clock_);
    REQUIRE(store);
    auto opened = bus::Server::open(
        {.listen = folder_.endpoint(), .engine = engine_}, std::move(*store), clock_, ids_);
    REQUIRE(opened);
    server_ = std::move(*opened);
  }
  void stop() { server_.reset(); }
  void restart() {
    stop();
    start();
  }
  /// The next start() has an empty log with another identity.
  void replace_log() { disk_ = std::make_unique<SimDisk>(2); }

  [[nodiscard]] Engine& engine() { return server_->engine(); }
  [[nodiscard]] client::ConnectOptions connect() const { return {.endpoint = folder_.endpoint()}; }
  [[nodiscard]] std::unique_ptr<client::Appender> appender(
      client::AppenderOptions options = {}) const {
    options.connect = connect();
    auto opened = client::Appender::open(options);
    REQUIRE(opened);
    return std::move(*opened);
  }

 private:
  SocketFolder folder_{};
  SystemClock clock_{};
  SystemIds ids_{};
  std::unique_ptr<SimDisk> disk_ = std::make_unique<SimDisk>(1);
  EngineOptions engine_;
  std::unique_ptr<bus::Server> server_{};
};

inline Draft draft(std::uint64_t number, bool durable = true) {
  return {.type = "acme.made",
          .durable = durable,
          .data = R"({"number":)" + std::to_string(number) + "}"};
}

/// `count` drafts, numbered from `first`.
inline std::vector<Draft> drafts(std::uint64_t first, std::uint64_t count) {
  std::vector<Draft> made;
  for (std::uint64_t number = first; number < first + count; ++number)
    made.push_back(draft(number));
  return made;
}

/// Appends and demands that all was taken.
inline client::Appended appended(client::Appender& appender,
                                 const std::string& subject,
                                 std::vector<Draft> events) {
  const std::size_t count = events.size();
  auto done = appender.append(subject, std::move(events));
  REQUIRE(done);
  INFO((done->error ? describe(*done->error) : std::string()));
  REQUIRE_FALSE(done->error);
  REQUIRE(done->reply.taken == count);
  return std::move(*done);
}

}  // namespace runwire::test
