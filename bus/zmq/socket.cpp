#include "bus/zmq/socket.hpp"

#include "bus/zmq/endpoint.hpp"
#include "bus/zmq/tsan.hpp"
#include "codec/base/check.hpp"

#include <zmq.h>

#include <array>
#include <cerrno>
#include <new>
#include <unistd.h>
#include <utility>

namespace runwire::bus {
namespace {

int native_kind(SocketKind kind) {
  switch (kind) {
    case SocketKind::router:
      return ZMQ_ROUTER;
    case SocketKind::dealer:
      return ZMQ_DEALER;
    case SocketKind::xpub:
      return ZMQ_XPUB;
    case SocketKind::sub:
      return ZMQ_SUB;
    case SocketKind::push:
      return ZMQ_PUSH;
    case SocketKind::pull:
      return ZMQ_PULL;
  }
  return ZMQ_PAIR;
}

ErrorCode code_of(int number) {
  switch (number) {
    case EADDRINUSE:
      return ErrorCode::locked;
    case EADDRNOTAVAIL:
    case ENODEV:
    case ENOENT:
    case EHOSTUNREACH:
      return ErrorCode::unavailable;
    case EINVAL:
    case EPROTONOSUPPORT:
    case ENOCOMPATPROTO:
      return ErrorCode::invalid;
    case ETERM:
    case ENOTSOCK:
      return ErrorCode::closed;
    case EMSGSIZE:
      return ErrorCode::too_large;
    default:
      return ErrorCode::internal;
  }
}

Error error_of(const char* call, int number, std::string_view endpoint = {}) {
  Error error{code_of(number), std::string(call) + ": " + zmq_strerror(number), {}};
  return endpoint.empty() ? error : std::move(error).with("endpoint", endpoint);
}

zmq_msg_t* message_in(std::byte* storage) {
  return std::launder(reinterpret_cast<zmq_msg_t*>(storage));
}

bool set_int(void* handle, int option, int value) {
  return zmq_setsockopt(handle, option, &value, sizeof value) == 0;
}

int millis(std::chrono::milliseconds time) {
  return static_cast<int>(time.count());
}

/// Every limit by name; what libzmq would choose is nowhere relied upon.
bool set_limits(void* handle, const SocketOptions& options) {
  const std::int64_t bytes_max = options.message_bytes_max;
  const int first = options.reconnect ? millis(options.reconnect_first) : -1;
  return zmq_setsockopt(handle, ZMQ_MAXMSGSIZE, &bytes_max, sizeof bytes_max) == 0 &&
         set_int(handle, ZMQ_SNDHWM, options.send_queue_max) &&
         set_int(handle, ZMQ_RCVHWM, options.receive_queue_max) &&
         set_int(handle, ZMQ_LINGER, millis(options.linger)) &&
         set_int(handle, ZMQ_HANDSHAKE_IVL, millis(options.handshake)) &&
         set_int(handle, ZMQ_HEARTBEAT_IVL, millis(options.heartbeat)) &&
         set_int(handle, ZMQ_HEARTBEAT_TIMEOUT, millis(options.heartbeat_timeout)) &&
         set_int(handle, ZMQ_HEARTBEAT_TTL, millis(options.heartbeat_timeout)) &&
         set_int(handle, ZMQ_RECONNECT_IVL, first) &&
         set_int(handle, ZMQ_RECONNECT_IVL_MAX, millis(options.reconnect_max)) &&
         set_int(handle, ZMQ_BACKLOG, options.backlog);
}

bool set_manners(void* handle, SocketKind kind, const SocketOptions& options) {
  switch (kind) {
    case SocketKind::router:
      return set_int(handle, ZMQ_ROUTER_MANDATORY, 1) && set_int(handle, ZMQ_ROUTER_HANDOVER, 1);
    case SocketKind::xpub:
      return set_int(handle, ZMQ_XPUB_VERBOSE, 1);
    case SocketKind::push:
      return set_int(handle, ZMQ_IMMEDIATE, 1);
    case SocketKind::dealer:
      return set_int(handle, ZMQ_IMMEDIATE, options.reconnect ? 0 : 1);
    case SocketKind::sub:
    case SocketKind::pull:
      return true;
  }
  return false;
}

}  // namespace

Result<Socket> Socket::open(Context& context, SocketKind kind, const SocketOptions& options) {
  void* handle = zmq_socket(context.handle(), native_kind(kind));
  if (handle == nullptr) return fail(error_of("zmq_socket", errno));
  Socket socket(handle, kind, options.backlog);
  if (!set_limits(handle, options) || !set_manners(handle, kind, options)) {
    return fail(error_of("zmq_setsockopt", errno));
  }
  return socket;
}

Socket::Socket(void* handle, SocketKind kind, int backlog)
    : handle_(handle), kind_(kind), backlog_(backlog) {}

Socket::~Socket() {
  close();
}

Socket::Socket(Socket&& other) noexcept {
  *this = std::move(other);
}

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this == &other) return *this;
  close();
  handle_ = std::exchange(other.handle_, nullptr);
  kind_ = other.kind_;
  backlog_ = other.backlog_;
  owner_ = other.owner_;
  paths_ = std::exchange(other.paths_, {});
  return *this;
}

void Socket::close() noexcept {
  if (handle_ == nullptr) return;
  if (owner_.same_process()) {
    // Whoever destroys a socket on another thread has handed the whole object over.
    after_receive();
    zmq_close(handle_);
  } else {
    for (IpcPath& path : paths_)
      path.abandon();
  }
  handle_ = nullptr;
  paths_.clear();
}

Status Socket::check_usable() const {
  if (handle_ == nullptr) return fail(ErrorCode::closed, "socket: closed");
  return owner_.check_here("socket");
}

Status Socket::bind(std::string_view endpoint) {
  if (Status usable = check_usable(); !usable) return usable;
  const Result<BindEndpoint> judged = judge_bind(endpoint);
  if (!judged) return fail(judged.error());
  if (judged->ipc) return bind_ipc(judged->path, judged->endpoint);
  if (judged->endpoint.find('[') != std::string::npos) set_int(handle_, ZMQ_IPV6, 1);
  if (zmq_bind(handle_, judged->endpoint.c_str()) != 0) {
    return fail(error_of("bind", errno, endpoint));
  }
  return {};
}

Status Socket::bind_ipc(const std::string& path, const std::string& endpoint) {
  Result<IpcPath> taken = IpcPath::take(path, backlog_);
  if (!taken) return fail(taken.error());
  const int listener = taken->release_listener();
  set_int(handle_, ZMQ_USE_FD, listener);
  const int bound = zmq_bind(handle_, endpoint.c_str());
  const int number = errno;
  // The listener has its own copy of the option; a later bind must not find this descriptor.
  set_int(handle_, ZMQ_USE_FD, -1);
  if (bound != 0) {
    ::close(listener);
    return fail(error_of("bind", number, endpoint));
  }
  paths_.push_back(std::move(*taken));
  return {};
}

Result<std::string> Socket::bound_endpoint() const {
  if (Status usable = check_usable(); !usable) return fail(usable.error());
  std::array<char, 512> text{};
  std::size_t size = text.size();
  if (zmq_getsockopt(handle_, ZMQ_LAST_ENDPOINT, text.data(), &size) != 0) {
    return fail(error_of("bound_endpoint", errno));
  }
  return std::string(text.data());
}

Status Socket::connect(std::string_view endpoint) {
  if (Status usable = check_usable(); !usable) return usable;
  if (Status judged = judge_connect(endpoint); !judged) return judged;
  if (endpoint.find('[') != std::string_view::npos) set_int(handle_, ZMQ_IPV6, 1);
  if (zmq_connect(handle_, std::string(endpoint).c_str()) != 0) {
    return fail(error_of("connect", errno, endpoint));
  }
  return {};
}

Status Socket::subscribe(std::string_view topic) {
  if (Status usable = check_usable(); !usable) return usable;
  if (zmq_setsockopt(handle_, ZMQ_SUBSCRIBE, topic.data(), topic.size()) != 0) {
    return fail(error_of("subscribe", errno));
  }
  return {};
}

Status Socket::unsubscribe(std::string_view topic) {
  if (Status usable = check_usable(); !usable) return usable;
  if (zmq_setsockopt(handle_, ZMQ_UNSUBSCRIBE, topic.data(), topic.size()) != 0) {
    return fail(error_of("unsubscribe", errno));
  }
  return {};
}

Result<Sent> Socket::try_send(Message& message) {
  if (Status usable = check_usable(); !usable) return fail(usable.error());
  before_send();
  for (std::size_t at = 0; at < message.size(); ++at) {
    const int more = at + 1 < message.size() ? ZMQ_SNDMORE : 0;
    int sent = -1;
    do {
      sent = zmq_msg_send(message_in(message[at].storage_), handle_, ZMQ_DONTWAIT | more);
    } while (sent < 0 && errno == EINTR);
    if (sent >= 0) continue;
    // libzmq decides with the first frame: the others follow it or are dropped with it.
    if (errno == EAGAIN && at == 0) return Sent::would_block;
    if (errno == EHOSTUNREACH) return fail(ErrorCode::not_found, "send: the peer is gone");
    return fail(error_of("send", errno));
  }
  message.clear();
  return Sent::yes;
}

Result<bool> Socket::try_receive(Message& message) {
  message.clear();
  if (Status usable = check_usable(); !usable) return fail(usable.error());
  for (bool more = true; more;) {
    Frame frame;
    zmq_msg_t* native = message_in(frame.storage_);
    int received = -1;
    do {
      received = zmq_msg_recv(native, handle_, ZMQ_DONTWAIT);
    } while (received < 0 && errno == EINTR);
    if (received < 0) {
      if (errno == EAGAIN && message.empty()) return false;
      message.clear();
      return fail(error_of("receive", errno));
    }
    more = zmq_msg_more(native) != 0;
    if (message.size() < message_frames_max) message.push_back(std::move(frame));
  }
  after_receive();
  return true;
}

bool Socket::writable() const {
  if (!check_usable()) return false;
  int events = 0;
  std::size_t size = sizeof events;
  if (zmq_getsockopt(handle_, ZMQ_EVENTS, &events, &size) != 0) return false;
  return (events & ZMQ_POLLOUT) != 0;
}

}  // namespace runwire::bus
