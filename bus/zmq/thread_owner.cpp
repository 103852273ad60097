#include "bus/zmq/thread_owner.hpp"

#include <pthread.h>
#include <string>
#include <unistd.h>

namespace runwire::bus {
namespace {

// The two numbers cost a system call each, hence they are kept, and forgotten in a fork's child,
// whose only thread is the one that runs the handler.
struct Here {
  std::uint64_t thread = 0;
  std::uint64_t process = 0;
};
thread_local Here kept;

void forget_in_child() {
  kept = Here{};
}

const Here& here_and_now() {
  static const int registered = ::pthread_atfork(nullptr, nullptr, forget_in_child);
  static_cast<void>(registered);
  if (kept.thread == 0) {
    kept.thread = static_cast<std::uint64_t>(::gettid());
    kept.process = static_cast<std::uint64_t>(::getpid());
  }
  return kept;
}

}  // namespace

ThreadOwner::ThreadOwner() : thread_(here_and_now().thread), process_(here_and_now().process) {}

bool ThreadOwner::here() const {
  return here_and_now().thread == thread_ && same_process();
}

bool ThreadOwner::same_process() const {
  return here_and_now().process == process_;
}

Status ThreadOwner::check_here(std::string_view what) const {
  if (here()) [[likely]]
    return {};
  if (!same_process()) {
    return fail(ErrorCode::invalid,
                std::string(what) + ": not usable after fork; open a new one in the child");
  }
  return fail(ErrorCode::invalid,
              std::string(what) + ": used off its thread; only the thread that opened it may");
}

}  // namespace runwire::bus
