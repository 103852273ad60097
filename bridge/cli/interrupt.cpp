#include "bridge/cli/interrupt.hpp"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace runwire::cli {
namespace {

volatile std::sig_atomic_t caught = 0;
std::array<int, 2> wake_pipe{-1, -1};

void on_signal(int) {
  caught = 1;
  const char byte = 0;
  // A full pipe has woken whoever waits already.
  [[maybe_unused]] const auto written = ::write(wake_pipe[1], &byte, 1);
}

}  // namespace

void catch_signals() {
  if (::pipe2(wake_pipe.data(), O_CLOEXEC) != 0) return;
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

bool interrupted() {
  return caught != 0;
}

bool wait_interrupted(std::chrono::milliseconds timeout) {
  if (interrupted()) return true;
  pollfd item{.fd = wake_pipe[0], .events = POLLIN, .revents = 0};
  ::poll(&item, 1, static_cast<int>(timeout.count()));
  return interrupted();
}

}  // namespace runwire::cli
