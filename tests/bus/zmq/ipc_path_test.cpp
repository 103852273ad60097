#include "bus/zmq/ipc_path.hpp"

#include "bus/zmq/socket.hpp"

#include <catch2/catch.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace runwire;
using namespace runwire::bus;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path{};
  Folder() {
    std::string name = (fs::temp_directory_path() / "runwire-ipc-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string at(const char* name) const { return (path / name).string(); }
};

Socket router(Context& context) {
  Result<Socket> socket = Socket::open(context, SocketKind::router);
  REQUIRE(socket);
  return std::move(*socket);
}

/// What a killed server leaves: a socket file that nobody listens on.
void leave_stale_socket(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  ::close(fd);
  std::ofstream(path + ".lock").put('x');
}

}  // namespace

TEST_CASE("ipc: C17 the socket has mode 0600 and is gone with its lock after the close",
          "[zmq][ipc]") {
  Folder folder;
  Context context;
  {
    Socket socket = router(context);
    REQUIRE(socket.bind("ipc://" + folder.at("s")));
    struct stat made{};
    REQUIRE(::stat(folder.at("s").c_str(), &made) == 0);
    CHECK((made.st_mode & 0777U) == 0600U);
    CHECK(*socket.bound_endpoint() == "ipc://" + folder.at("s"));
  }
  CHECK(fs::is_empty(folder.path));
}

TEST_CASE("ipc: C17 a stale socket of a killed server is replaced", "[zmq][ipc]") {
  Folder folder;
  leave_stale_socket(folder.at("s"));
  Context context;
  Socket socket = router(context);
  REQUIRE(socket.bind("ipc://" + folder.at("s")));
  Result<Socket> dealer = Socket::open(context, SocketKind::dealer);
  REQUIRE(dealer);
  REQUIRE(dealer->connect("ipc://" + folder.at("s")));
  Message message;
  message.emplace_back("hello");
  REQUIRE(dealer->try_send(message));
  std::array items{PollItem{.socket = &socket}};
  REQUIRE(poll(items, std::chrono::seconds(5)));
  CHECK(items[0].readable);
}

TEST_CASE("ipc: C17 a regular file at the path is refused and left intact", "[zmq][ipc]") {
  Folder folder;
  std::ofstream(folder.at("s")) << "precious";
  Context context;
  Socket socket = router(context);
  const Status bound = socket.bind("ipc://" + folder.at("s"));
  REQUIRE_FALSE(bound);
  CHECK(bound.error().code == ErrorCode::invalid);
  std::string content;
  std::ifstream(folder.at("s")) >> content;
  CHECK(content == "precious");
  CHECK_FALSE(fs::exists(folder.at("s.lock")));
}

TEST_CASE("ipc: C17 a symbolic link at the path is refused", "[zmq][ipc]") {
  Folder folder;
  fs::create_symlink(folder.at("elsewhere"), folder.at("s"));
  Context context;
  Socket socket = router(context);
  CHECK(socket.bind("ipc://" + folder.at("s")).error().code == ErrorCode::invalid);
}

TEST_CASE("ipc: C17 a second server is refused and the first goes on", "[zmq][ipc]") {
  Folder folder;
  Context context;
  Socket first = router(context);
  REQUIRE(first.bind("ipc://" + folder.at("s")));
  {
    Socket second = router(context);
    const Status bound = second.bind("ipc://" + folder.at("s"));
    REQUIRE_FALSE(bound);
    CHECK(bound.error().code == ErrorCode::locked);
    CHECK(bound.error().text("endpoint") == "ipc://" + folder.at("s"));
  }
  CHECK(fs::exists(folder.at("s")));
  // Also one that takes no lock, another program, counts as live.
  fs::remove(folder.at("s.lock"));
  Socket third = router(context);
  CHECK(third.bind("ipc://" + folder.at("s")).error().code == ErrorCode::locked);
  CHECK(fs::exists(folder.at("s")));
}

TEST_CASE("ipc: a path that was taken over is not removed by its first owner", "[zmq][ipc]") {
  Folder folder;
  Context context;
  {
    Socket first = router(context);
    REQUIRE(first.bind("ipc://" + folder.at("s")));
    fs::remove(folder.at("s"));
    std::ofstream(folder.at("s")) << "somebody else's";
  }
  CHECK(fs::exists(folder.at("s")));
}

TEST_CASE("ipc: the longest path is bound and one byte more is `too_large`", "[zmq][ipc]") {
  Folder folder;
  const std::string prefix = folder.at("") + "/";
  const std::string exact = prefix + std::string(IpcPath::path_bytes_max - prefix.size(), 'p');
  CHECK(IpcPath::take(exact, 16));
  const Result<IpcPath> over = IpcPath::take(exact + "p", 16);
  REQUIRE_FALSE(over);
  CHECK(over.error().code == ErrorCode::too_large);
}

TEST_CASE("ipc: one path is bound again and again in one process", "[zmq][ipc]") {
  Folder folder;
  Context context;
  for (int round = 0; round < 50; ++round) {
    Socket socket = router(context);
    REQUIRE(socket.bind("ipc://" + folder.at("s")));
    REQUIRE(fs::exists(folder.at("s")));
  }
}
