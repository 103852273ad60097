#include "engine/base/wakeup.hpp"

#include "codec/base/check.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace runwire {

Wakeup::Wakeup() : fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  check(fd_ >= 0, "eventfd: out of descriptors at start");
}

Wakeup::~Wakeup() {
  ::close(fd_);
}

void Wakeup::raise() noexcept {
  const std::uint64_t one = 1;
  // EAGAIN means that the counter is full, which wakes just as well.
  [[maybe_unused]] const ssize_t written = ::write(fd_, &one, sizeof one);
}

void Wakeup::clear() noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(fd_, &count, sizeof count);
}

void Wakeup::wait(std::chrono::milliseconds timeout) const noexcept {
  pollfd item{fd_, POLLIN, 0};
  constexpr std::chrono::milliseconds longest{std::numeric_limits<int>::max()};
  const auto bounded = std::clamp(timeout, std::chrono::milliseconds{0}, longest);
  ::poll(&item, 1, static_cast<int>(bounded.count()));
}

}  // namespace runwire
