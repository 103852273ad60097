#include "bus/zmq/socket.hpp"

#include "codec/base/ids.hpp"

#include <catch2/catch.hpp>

#include <future>
#include <sys/wait.h>
#include <unistd.h>

using namespace runwire;
using namespace runwire::bus;
using namespace std::chrono_literals;

namespace {

Socket opened(Context& context, SocketKind kind, const SocketOptions& options = {}) {
  Result<Socket> socket = Socket::open(context, kind, options);
  REQUIRE(socket);
  return std::move(*socket);
}

/// Receives one message within the deadline, or fails the test.
Message received(Socket& socket, std::chrono::milliseconds timeout = 5s) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  Message message;
  while (std::chrono::steady_clock::now() < until) {
    const Result<bool> got = socket.try_receive(message);
    REQUIRE(got);
    if (*got) return message;
    std::array items{PollItem{.socket = &socket}};
    REQUIRE(poll(items, 50ms));
  }
  FAIL("nothing received");
  return message;
}

/// Waits until a send would be taken.
void await_writable(Socket& socket) {
  std::array items{PollItem{.socket = &socket, .want_write = true, .want_read = false}};
  REQUIRE(poll(items, 5s));
  REQUIRE(items[0].writable);
}

Message one(std::string_view text) {
  Message message;
  message.emplace_back(text);
  return message;
}

struct Pair {
  Context context{};
  Socket router = opened(context, SocketKind::router);
  Socket dealer = opened(context, SocketKind::dealer);
  Pair() {
    REQUIRE(router.bind("tcp://127.0.0.1:*"));
    REQUIRE(dealer.connect(*router.bound_endpoint()));
  }
};

}  // namespace

TEST_CASE("Socket: a request and its reply cross with all frames and bytes", "[zmq]") {
  Pair pair;
  Bytes large(100'000, std::byte{7});
  const std::byte* data = large.data();
  Message request = one("header");
  request.emplace_back(std::move(large));
  CHECK(request[1].view().data() == data);  // Borrowed, not copied.
  CHECK(pair.dealer.try_send(request) == Sent::yes);
  CHECK(request.empty());

  Message got = received(pair.router);
  REQUIRE(got.size() == 3);
  CHECK(as_text(got[1].view()) == "header");
  CHECK(got[2].size() == 100'000);
  CHECK(pair.router.try_send(got) == Sent::yes);
  CHECK(received(pair.dealer).size() == 2);
}

TEST_CASE("Socket: C22 an empty message arrives as one empty frame", "[zmq]") {
  Pair pair;
  Message empty = one("");
  REQUIRE(pair.dealer.try_send(empty));
  const Message got = received(pair.router);
  REQUIRE(got.size() == 2);
  CHECK(got[1].size() == 0);
}

TEST_CASE("Socket: C13 frames beyond the most that a message may have are thrown away", "[zmq]") {
  Pair pair;
  Message many;
  for (int count = 0; count < 10'000; ++count)
    many.emplace_back("x");
  REQUIRE(pair.dealer.try_send(many));
  Message next = one("next");
  REQUIRE(pair.dealer.try_send(next));
  CHECK(received(pair.router).size() == message_frames_max);
  CHECK(as_text(received(pair.router)[1].view()) == "next");
}

TEST_CASE("Socket: C13 a frame of the limit passes, one byte more cuts the peer", "[zmq]") {
  Context context;
  Socket pull = opened(context, SocketKind::pull, {.message_bytes_max = 1000});
  REQUIRE(pull.bind("tcp://127.0.0.1:*"));
  SocketOptions lone;
  lone.reconnect = false;
  Socket dealer = opened(context, SocketKind::push, lone);
  REQUIRE(dealer.connect(*pull.bound_endpoint()));
  await_writable(dealer);
  Message exact;
  exact.emplace_back(Bytes(1000));
  REQUIRE(dealer.try_send(exact) == Sent::yes);
  CHECK(received(pull)[0].size() == 1000);
  Message over;
  over.emplace_back(Bytes(1001));
  REQUIRE(dealer.try_send(over) == Sent::yes);
  // Cut: without reconnect the socket never becomes writable again.
  const auto until = std::chrono::steady_clock::now() + 5s;
  while (dealer.writable() && std::chrono::steady_clock::now() < until) {
    std::array items{PollItem{.socket = &dealer}};
    REQUIRE(poll(items, 10ms));
  }
  CHECK_FALSE(dealer.writable());
}

TEST_CASE("Socket: a ROUTER says that it does not know a peer", "[zmq]") {
  Pair pair;
  Message message = one("nobody");
  message.emplace_back("text");
  CHECK(pair.router.try_send(message).error().code == ErrorCode::not_found);
}

TEST_CASE("Socket: a full queue leaves the message with the caller", "[zmq]") {
  Context context;
  Socket push = opened(context, SocketKind::push, {.send_queue_max = 1});
  REQUIRE(push.bind("tcp://127.0.0.1:*"));
  Message message = one("kept");
  CHECK(push.try_send(message) == Sent::would_block);
  REQUIRE(message.size() == 1);
  CHECK(as_text(message[0].view()) == "kept");
  CHECK_FALSE(push.writable());
}

TEST_CASE("Socket: XPUB hears every subscription to one topic, also a repeated one", "[zmq]") {
  Context context;
  Socket xpub = opened(context, SocketKind::xpub);
  REQUIRE(xpub.bind("tcp://127.0.0.1:*"));
  Socket first = opened(context, SocketKind::sub);
  Socket second = opened(context, SocketKind::sub);
  for (Socket* sub : {&first, &second}) {
    REQUIRE(sub->connect(*xpub.bound_endpoint()));
    REQUIRE(sub->subscribe("r1/"));
    CHECK(as_text(received(xpub)[0].view()) == std::string_view("\x01r1/", 4));
  }
  Message live = one("r1/");
  live.emplace_back("header");
  REQUIRE(xpub.try_send(live));
  CHECK(as_text(received(second)[1].view()) == "header");
}

TEST_CASE("Socket: binds only to this machine", "[zmq]") {
  Context context;
  for (const char* wide : {"tcp://*:5555",
                           "tcp://0.0.0.0:5555",
                           "tcp://eth0:5555",
                           "tcp://10.0.0.1:1",
                           "tcp://[::]:5555",
                           "tcp://127.0.0.1",
                           "tcp://127.0.0.1:0",
                           "tcp://127.0.0.1:65536",
                           "inproc://x",
                           "udp://127.0.0.1:1",
                           "",
                           "ipc://",
                           "ipc://@abstract",
                           "ipc://*",
                           "tcp://128.0.0.1:1"}) {
    Socket socket = opened(context, SocketKind::router);
    INFO(wide);
    const Status bound = socket.bind(wide);
    REQUIRE_FALSE(bound);
    CHECK(bound.error().code == ErrorCode::invalid);
  }
  for (const char* near : {"tcp://127.0.0.1:*", "tcp://localhost:*", "tcp://127.1.2.3:*"}) {
    Socket socket = opened(context, SocketKind::router);
    INFO(near);
    CHECK(socket.bind(near));
  }
}

TEST_CASE("Socket: an address in use is `locked` and names the endpoint", "[zmq]") {
  Context context;
  Socket first = opened(context, SocketKind::router);
  Socket second = opened(context, SocketKind::router);
  REQUIRE(first.bind("tcp://127.0.0.1:*"));
  const Status bound = second.bind(*first.bound_endpoint());
  REQUIRE_FALSE(bound);
  CHECK(bound.error().code == ErrorCode::locked);
  CHECK(bound.error().text("endpoint") == *first.bound_endpoint());
}

TEST_CASE("Socket: C18 another thread is refused and the owner goes on", "[zmq]") {
  Pair pair;
  auto other = std::async(std::launch::async, [&] {
    Message message = one("wrong");
    return pair.dealer.try_send(message).error();
  });
  const Error refused = other.get();
  CHECK(refused.code == ErrorCode::invalid);
  CHECK(refused.message.find("thread") != std::string::npos);
  Message message = one("right");
  REQUIRE(pair.dealer.try_send(message));
  CHECK(as_text(received(pair.router)[1].view()) == "right");
}

TEST_CASE("Socket: C19 a child of fork is told so and leaves the parent undisturbed", "[zmq]") {
  Pair pair;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    Message message = one("lost");
    const Result<Sent> sent = pair.dealer.try_send(message);
    const bool told = !sent && sent.error().message.find("fork") != std::string::npos;
    pair.dealer = Socket(std::move(pair.router));  // Destroys one and hands the other on.
    ::_exit(told ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  Message message = one("right");
  REQUIRE(pair.dealer.try_send(message));
  CHECK(as_text(received(pair.router)[1].view()) == "right");
}

TEST_CASE("Socket: a DEALER without reconnect tells a lost connection by its writability",
          "[zmq]") {
  Context context;
  SocketOptions lone;
  lone.reconnect = false;
  Socket dealer = opened(context, SocketKind::dealer, lone);
  CHECK_FALSE(dealer.writable());
  {
    Context server;
    Socket router = opened(server, SocketKind::router);
    REQUIRE(router.bind("tcp://127.0.0.1:*"));
    REQUIRE(dealer.connect(*router.bound_endpoint()));
    await_writable(dealer);
  }
  const auto until = std::chrono::steady_clock::now() + 5s;
  while (dealer.writable() && std::chrono::steady_clock::now() < until) {
    std::array items{PollItem{.socket = &dealer}};
    REQUIRE(poll(items, 10ms));
  }
  CHECK_FALSE(dealer.writable());
}

namespace {

/// Sends frames full of one byte, expects each back; how many came back wrong. Catch2's macros are
/// for one thread, so this one only counts.
int echo_rounds(Context& context, const std::string& endpoint, int rounds) {
  Result<Socket> dealer = Socket::open(context, SocketKind::dealer);
  if (!dealer || !dealer->connect(endpoint)) return rounds;
  int wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    Message message;
    message.emplace_back(Bytes(4096, static_cast<std::byte>(round)));
    if (!dealer->try_send(message)) ++wrong;
    std::array items{PollItem{.socket = &*dealer}};
    const bool waited = poll(items, 5s).has_value();
    const bool got = waited && dealer->try_receive(message).value_or(false);
    if (!got || message[0].view()[4095] != static_cast<std::byte>(round)) ++wrong;
  }
  return wrong;
}

}  // namespace

TEST_CASE("Socket: threads exchange large frames without a data race", "[zmq]") {
  Context context;
  Socket router = opened(context, SocketKind::router);
  REQUIRE(router.bind("tcp://127.0.0.1:*"));
  const std::string endpoint = *router.bound_endpoint();
  constexpr int rounds = 200;
  auto peer =
      std::async(std::launch::async, [&] { return echo_rounds(context, endpoint, rounds); });
  for (int round = 0; round < rounds; ++round) {
    Message message = received(router);
    CHECK(message[1].view()[0] == static_cast<std::byte>(round));
    REQUIRE(router.try_send(message) == Sent::yes);
  }
  CHECK(peer.get() == 0);
}
