#pragma once

#include "bus/zmq/ipc_path.hpp"
#include "bus/zmq/thread_owner.hpp"
#include "codec/base/bytes.hpp"
#include "codec/base/limits.hpp"
#include "codec/base/result.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The one seam to ZeroMQ: every socket of the product is opened, used and closed through it, with
/// every limit set explicitly, and nothing else includes the library.
namespace runwire::bus {

/// Bytes that ZeroMQ still holds of frames that share this counter: what a peer has not taken yet.
using HeldBytes = std::shared_ptr<std::atomic<std::size_t>>;

/// One frame. Move-only. A frame made from Bytes is sent without copying them (small ones, where a
/// copy costs less than a hand-over, are copied).
class Frame {
 public:
  Frame();
  explicit Frame(Bytes&& bytes);
  /// Counted in `held` until its last byte was sent or dropped; never copied.
  Frame(Bytes&& bytes, HeldBytes held);
  explicit Frame(std::string_view text);
  ~Frame();
  Frame(Frame&& other) noexcept;
  Frame& operator=(Frame&& other) noexcept;
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  [[nodiscard]] ByteView view() const;
  [[nodiscard]] std::size_t size() const { return view().size(); }

 private:
  friend class Socket;
  alignas(8) std::byte storage_[64];  ///< One zmq_msg_t; the .cpp asserts size and alignment.
};
using Message = std::vector<Frame>;

/// No message of the protocol has as many: what a peer sends beyond them is read and thrown away,
/// so that whoever counts frames refuses the message and nothing grows.
inline constexpr std::size_t message_frames_max = 8;

/// ZeroMQ's context: its I/O thread. Must outlive its sockets. Closing waits for nothing but the
/// sockets that are still open, whose linger is 0. In a fork's child nothing is closed.
class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  Context(Context&&) = delete;
  Context& operator=(Context&&) = delete;
  [[nodiscard]] void* handle() const { return handle_; }

 private:
  void* handle_;
  ThreadOwner owner_{};
};

enum class SocketKind : std::uint8_t { router, dealer, xpub, sub, push, pull };

/// Every bound of a socket. Times are for dead links: ZMTP heartbeats on, so that both ends notice.
struct SocketOptions {
  std::int64_t message_bytes_max = static_cast<std::int64_t>(limits::message_bytes_max);
  int send_queue_max = 1024;  ///< High-water mark, messages.
  int receive_queue_max = 1024;
  std::chrono::milliseconds linger{0};
  std::chrono::milliseconds handshake{10'000};
  std::chrono::milliseconds heartbeat = limits::heartbeat;
  std::chrono::milliseconds heartbeat_timeout = limits::heartbeat * limits::heartbeats_missed_max;
  std::chrono::milliseconds reconnect_first{20};
  std::chrono::milliseconds reconnect_max{500};
  bool reconnect = true;  ///< False: one connection, and never writable again once it is lost.
  int backlog = 1024;
};

enum class Sent : std::uint8_t { yes, would_block };

/// One socket with one owner thread, checked on every call. ROUTER is mandatory and hands over to a
/// new peer with an old id; XPUB is verbose; PUSH, and a DEALER without reconnect, queue only for a
/// peer that is there. Bound: SocketOptions. Errors: `unavailable`, `locked` (address in use),
/// `invalid` (endpoint, or off its thread), `too_large`, `closed`, `internal`.
class Socket {
 public:
  static Result<Socket> open(Context& context, SocketKind kind, const SocketOptions& options = {});
  ~Socket();
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  /// `tcp://127.0.0.1:*` takes a free port. Anything but ipc and loopback is refused (`invalid`).
  /// An ipc path is checked first: a live socket there is `locked`, a file that is no socket is
  /// refused untouched, a stale socket is removed; mode 0600.
  Status bind(std::string_view endpoint);
  [[nodiscard]] Result<std::string> bound_endpoint() const;
  Status connect(std::string_view endpoint);
  Status subscribe(std::string_view topic);
  Status unsubscribe(std::string_view topic);

  /// Never blocks. `would_block` leaves the frames with the caller; `yes` has taken them. A
  /// ROUTER's unknown peer is `not_found`.
  Result<Sent> try_send(Message& message);
  /// Never blocks; false when nothing waits. `message` is cleared first.
  Result<bool> try_receive(Message& message);
  /// A send would be taken now. Off its thread: false.
  [[nodiscard]] bool writable() const;

  [[nodiscard]] void* handle() const { return handle_; }

 private:
  Socket(void* handle, SocketKind kind, int backlog);
  void close() noexcept;
  Status bind_ipc(const std::string& path, const std::string& endpoint);
  Status check_usable() const;

  void* handle_ = nullptr;
  SocketKind kind_{};
  int backlog_ = 0;
  ThreadOwner owner_{};
  std::vector<IpcPath> paths_{};  ///< Removed after the socket was closed.
};

/// What to wait for, beside each other: sockets and descriptors (a Wakeup's fd).
struct PollItem {
  const Socket* socket = nullptr;
  int fd = -1;
  bool want_write = false;
  bool readable = false;
  bool writable = false;
  bool want_read = true;
};
/// Returns when any item is ready or after `timeout`; negative waits for ever. A signal does not
/// end the wait. Bound: poll_items_max items.
inline constexpr std::size_t poll_items_max = 256;
Status poll(std::span<PollItem> items, std::chrono::milliseconds timeout);

}  // namespace runwire::bus
