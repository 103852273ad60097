#include "bridge/cli/child.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
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

}  // namespace

Result<int> run_shell(const std::string& command, std::string_view input) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return failed("pipe");
  const pid_t child = ::fork();
  if (child < 0) return failed("fork");
  if (child == 0) {
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(ends[0]);
  feed(ends[1], input);
  ::close(ends[1]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return failed("waitpid");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace runwire::cli
