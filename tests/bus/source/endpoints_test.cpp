#include "bus/source/endpoints.hpp"

#include "bus/zmq/ipc_path.hpp"
#include "tests/bus/client/server_rig.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <string>

using namespace runwire;
using namespace runwire::bus;

TEST_CASE("Endpoints: all sockets of a server are beside its requests", "[source]") {
  const auto ipc = Endpoints::beside("ipc:///tmp/somewhere/bus");
  REQUIRE(ipc);
  CHECK(ipc->live() == "ipc:///tmp/somewhere/bus.live");
  CHECK(ipc->acks() == "ipc:///tmp/somewhere/bus.acks");
  const auto tcp = Endpoints::beside("tcp://127.0.0.1:7000");
  REQUIRE(tcp);
  CHECK(tcp->live() == "tcp://127.0.0.1:*");
}

TEST_CASE("C53 Endpoints: no attach has the name of another one, of this life or an earlier one",
          "[source]") {
  const auto endpoints = Endpoints::beside("ipc:///tmp/somewhere/bus");
  REQUIRE(endpoints);
  CHECK(endpoints->attach(Term{1}, 1) != endpoints->attach(Term{1}, 2));
  CHECK(endpoints->attach(Term{1}, 1) != endpoints->attach(Term{2}, 1));
  CHECK(endpoints->attach(Term{1}, 11) != endpoints->attach(Term{11}, 1));
}

TEST_CASE("Endpoints: a path is taken as long as all its siblings fit, and not one byte longer",
          "[source][bound]") {
  const std::string folder = "/tmp/";
  const auto with = [&](std::size_t bytes) {
    return Endpoints::beside("ipc://" + folder + std::string(bytes - folder.size(), 'x'));
  };
  const std::size_t longest = IpcPath::path_bytes_max - 49;  // .attach-, 20 digits, -, 20 digits
  CHECK(with(longest));
  const auto refused = with(longest + 1);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::too_large);
}

TEST_CASE("Endpoints: what a killed server left is removed, and nothing of anybody else",
          "[source]") {
  const test::SocketFolder folder;
  const std::string path = folder.endpoint().substr(6);
  for (const char* name : {".attach-1-1", ".attach-1-1.lock", ".live", "2.attach-1-1"})
    std::ofstream(path + name) << "left";
  const auto endpoints = Endpoints::beside(folder.endpoint());
  REQUIRE(endpoints);
  endpoints->remove_left_attaches();
  CHECK_FALSE(std::filesystem::exists(path + ".attach-1-1"));
  CHECK_FALSE(std::filesystem::exists(path + ".attach-1-1.lock"));
  CHECK(std::filesystem::exists(path + ".live"));
  CHECK(std::filesystem::exists(path + "2.attach-1-1"));
}
