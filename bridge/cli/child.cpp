#include "bridge/cli/child.hpp"

#include "bridge/cli/interrupt.hpp"
#include "codec/base/limits.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace runwire::cli {
namespace {

std::unexpected<Error> failed(const char* call) {
  return fail(ErrorCode::internal, std::string(call) + ": " + std::strerror(errno));
}

/// A child that does not read its input has decided without it.
void feed(int file, std::string_view input) {
  while (!input.empty()) {
    const ssize_t written = ::write(file, input.data(), input.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    input.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// As long as the command takes; after a signal for us it has limits::drain_timeout, then it is
/// killed, since nothing was acked.
Result<int> wait_for_end(pid_t child) {
  constexpr auto looks_max = limits::drain_timeout / look_every;
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  if (handle < 0) return failed("pidfd_open");
  pollfd item{.fd = handle, .events = POLLIN, .revents = 0};
  for (int looks = 0; ::poll(&item, 1, static_cast<int>(look_every.count())) <= 0;) {
    if (interrupted() && ++looks > looks_max) ::kill(child, SIGKILL);
  }
  ::close(handle);
  int status = 0;
  if (::waitpid(child, &status, 0) < 0) return failed("waitpid");
  return status;
}

}  // namespace

Result<int> run_shell(const std::string& command, std::string_view input) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failed("pipe");
  const pid_t child = ::fork();
  if (child < 0) return failed("fork");
  if (child == 0) {
    ::dup2(ends[0], STDIN_FILENO);
    std::signal(SIGPIPE, SIG_DFL);  // ours is ignored, and would stay so over exec
    ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(ends[0]);
  feed(ends[1], input);
  ::close(ends[1]);
  auto ended = wait_for_end(child);
  if (!ended) return fail(std::move(ended.error()));
  const int status = *ended;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace runwire::cli
