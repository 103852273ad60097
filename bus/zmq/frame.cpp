#include "bus/zmq/socket.hpp"
#include "bus/zmq/tsan.hpp"
#include "codec/base/check.hpp"

#include <zmq.h>

#include <cstring>
#include <memory>
#include <new>

namespace runwire::bus {
namespace {

// Below this, libzmq's two allocations for borrowed memory cost more than a copy.
constexpr std::size_t copy_bytes_max = 512;

zmq_msg_t* message_in(std::byte* storage) {
  return std::launder(reinterpret_cast<zmq_msg_t*>(storage));
}

/// What a borrowed message points to.
struct Owned {
  Bytes bytes{};
  HeldBytes held{};
};

/// Called by libzmq, mostly on its I/O thread, when the last byte was sent.
void free_bytes(void*, void* hint) {
  after_receive();
  const std::unique_ptr<Owned> owned(static_cast<Owned*>(hint));
  if (owned->held) owned->held->fetch_sub(owned->bytes.size());
}

void init_borrowed(std::byte* storage, std::unique_ptr<Owned> owned) {
  const int made = zmq_msg_init_data(
      message_in(storage), owned->bytes.data(), owned->bytes.size(), free_bytes, owned.get());
  check(made == 0, "zmq_msg_init_data: out of memory");
  static_cast<void>(owned.release());  // free_bytes has it now.
}

void init_copy(std::byte* storage, const void* data, std::size_t size) {
  zmq_msg_t* message = message_in(storage);
  check(zmq_msg_init_size(message, size) == 0, "zmq_msg_init_size: out of memory");
  if (size > 0) std::memcpy(zmq_msg_data(message), data, size);
}

}  // namespace

static_assert(sizeof(zmq_msg_t) <= 64 && alignof(zmq_msg_t) <= 8);

Frame::Frame() {
  zmq_msg_init(message_in(storage_));
}

Frame::Frame(Bytes&& bytes) {
  if (bytes.size() <= copy_bytes_max) {
    init_copy(storage_, bytes.data(), bytes.size());
    return;
  }
  init_borrowed(storage_, std::make_unique<Owned>(std::move(bytes), HeldBytes{}));
}

Frame::Frame(Bytes&& bytes, HeldBytes held) {
  held->fetch_add(bytes.size());
  init_borrowed(storage_, std::make_unique<Owned>(std::move(bytes), std::move(held)));
}

Frame::Frame(std::string_view text) {
  init_copy(storage_, text.data(), text.size());
}

Frame::~Frame() {
  zmq_msg_close(message_in(storage_));
}

Frame::Frame(Frame&& other) noexcept {
  zmq_msg_init(message_in(storage_));
  zmq_msg_move(message_in(storage_), message_in(other.storage_));
}

Frame& Frame::operator=(Frame&& other) noexcept {
  if (this != &other) zmq_msg_move(message_in(storage_), message_in(other.storage_));
  return *this;
}

ByteView Frame::view() const {
  // libzmq's reading functions take a message that is not const; none of them writes.
  zmq_msg_t* message = message_in(const_cast<std::byte*>(storage_));
  return {static_cast<const std::byte*>(zmq_msg_data(message)), zmq_msg_size(message)};
}

}  // namespace runwire::bus
