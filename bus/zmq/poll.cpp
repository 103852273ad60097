#include "bus/zmq/socket.hpp"

#include <zmq.h>

#include <array>
#include <cerrno>

namespace runwire::bus {
namespace {

using Steady = std::chrono::steady_clock;

short wanted(const PollItem& item) {
  const int events = (item.want_read ? ZMQ_POLLIN : 0) | (item.want_write ? ZMQ_POLLOUT : 0);
  return static_cast<short>(events);
}

long remaining(Steady::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Steady::now());
  return left.count() > 0 ? static_cast<long>(left.count()) : 0L;
}

}  // namespace

Status poll(std::span<PollItem> items, std::chrono::milliseconds timeout) {
  if (items.size() > poll_items_max) return fail(ErrorCode::too_large, "poll: over 256 items");
  std::array<zmq_pollitem_t, poll_items_max> native;
  for (std::size_t at = 0; at < items.size(); ++at) {
    void* handle = items[at].socket != nullptr ? items[at].socket->handle() : nullptr;
    native[at] = {handle, items[at].fd, wanted(items[at]), 0};
  }
  const bool for_ever = timeout.count() < 0;
  const Steady::time_point until = Steady::now() + timeout;
  int ready = -1;
  do {
    ready =
        zmq_poll(native.data(), static_cast<int>(items.size()), for_ever ? -1L : remaining(until));
  } while (ready < 0 && errno == EINTR);
  if (ready < 0) return fail(ErrorCode::internal, std::string("poll: ") + zmq_strerror(errno));
  for (std::size_t at = 0; at < items.size(); ++at) {
    const int events = native[at].revents;
    // An error on a descriptor is for its reader to find.
    items[at].readable = (events & (ZMQ_POLLIN | ZMQ_POLLERR)) != 0;
    items[at].writable = (events & ZMQ_POLLOUT) != 0;
  }
  return {};
}

}  // namespace runwire::bus
