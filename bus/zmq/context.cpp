#include "bus/zmq/socket.hpp"
#include "codec/base/check.hpp"

#include <zmq.h>

#include <cerrno>

namespace runwire::bus {
namespace {

constexpr int sockets_max = 4096;

}  // namespace

Context::Context() : handle_(zmq_ctx_new()) {
  check(handle_ != nullptr, "zmq_ctx_new: out of memory or descriptors");
  zmq_ctx_set(handle_, ZMQ_IO_THREADS, 1);
  zmq_ctx_set(handle_, ZMQ_MAX_SOCKETS, sockets_max);
  zmq_ctx_set(handle_, ZMQ_BLOCKY, 0);
}

Context::~Context() {
  // The threads that would end it do not exist in a fork's child: waiting for them would hang.
  if (!owner_.same_process()) return;
  while (zmq_ctx_term(handle_) != 0 && errno == EINTR) {
  }
}

}  // namespace runwire::bus
