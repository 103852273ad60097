#include "bus/zmq/ipc_path.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace runwire::bus {
namespace {

std::unexpected<Error> refuse(ErrorCode code, const std::string& path, const std::string& why) {
  return fail(Error{code, "ipc path " + path + ": " + why, {}}.with("endpoint", "ipc://" + path));
}

std::unexpected<Error> refuse_errno(const std::string& path, const char* call, int number) {
  return refuse(ErrorCode::internal, path, std::string(call) + ": " + std::strerror(number));
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

/// True where a process accepts connections at the path. A full backlog counts as one.
Result<bool> somebody_listens(const std::string& path) {
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return refuse_errno(path, "socket", errno);
  const sockaddr_un address = address_of(path);
  const int answer = ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int number = answer == 0 ? 0 : errno;
  ::close(probe);
  if (number == ECONNREFUSED || number == ENOENT) return false;
  if (number == 0 || number == EAGAIN || number == EINPROGRESS) return true;
  return refuse_errno(path, "connect", number);
}

/// Opens and locks `lock_path`; -1 where somebody else has it. The file may be removed between the
/// open and the lock by the one who had it, hence the look at what the name means now.
Result<int> take_lock(const std::string& path, const std::string& lock_path) {
  for (int attempt = 0; attempt < 16; ++attempt) {
    const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0) return refuse_errno(path, "open of the lock file", errno);
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
      const int number = errno;
      ::close(lock);
      if (number == EINTR) continue;
      if (number == EWOULDBLOCK) return -1;
      return refuse_errno(path, "flock", number);
    }
    struct stat held{};
    struct stat named{};
    if (::fstat(lock, &held) == 0 && ::stat(lock_path.c_str(), &named) == 0 &&
        held.st_ino == named.st_ino && held.st_dev == named.st_dev) {
      return lock;
    }
    ::close(lock);
  }
  return -1;
}

/// Nothing there, or a stale socket, which is removed. Pre: the lock is held.
Status clear_stale(const std::string& path) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return {};
    return refuse_errno(path, "lstat", errno);
  }
  if (!S_ISSOCK(found.st_mode)) {
    return refuse(ErrorCode::invalid, path, "there is a file that is no socket; it was left alone");
  }
  const Result<bool> live = somebody_listens(path);
  if (!live) return fail(live.error());
  if (*live) return refuse(ErrorCode::locked, path, "another process serves it");
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return refuse_errno(path, "unlink", errno);
  return {};
}

Status check_form(const std::string& path) {
  if (path.empty() || path.front() == '@' || path.front() == '*') {
    return refuse(ErrorCode::invalid, path, "wants the path of a file");
  }
  if (path.size() > IpcPath::path_bytes_max) {
    return refuse(ErrorCode::too_large, path, "over 107 bytes, the most that a Unix socket holds");
  }
  return {};
}

}  // namespace

Result<IpcPath> IpcPath::take(const std::string& path, int backlog) {
  if (Status form = check_form(path); !form) return fail(form.error());
  // A file that is no socket is refused before anything is created beside it.
  struct stat found{};
  if (::lstat(path.c_str(), &found) == 0 && !S_ISSOCK(found.st_mode)) {
    return fail(clear_stale(path).error());
  }
  const Result<int> lock = take_lock(path, path + ".lock");
  if (!lock) return fail(lock.error());
  if (*lock < 0) return refuse(ErrorCode::locked, path, "another process serves it");
  IpcPath taken;
  taken.path_ = path;
  taken.lock_ = *lock;
  if (Status clear = clear_stale(path); !clear) return fail(clear.error());
  if (Status listening = taken.listen_on(path, backlog); !listening) return fail(listening.error());
  return taken;
}

Status IpcPath::listen_on(const std::string& path, int backlog) {
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0) return refuse_errno(path, "socket", errno);
  // On Linux the mode given before bind is the mode of the file: no moment with a wider one.
  if (::fchmod(listener_, 0600) != 0) return refuse_errno(path, "fchmod", errno);
  const sockaddr_un address = address_of(path);
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return refuse_errno(path, "bind", errno);
  }
  struct stat made{};
  if (::lstat(path.c_str(), &made) != 0) return refuse_errno(path, "lstat", errno);
  device_ = made.st_dev;
  inode_ = made.st_ino;
  if (::listen(listener_, backlog) != 0) return refuse_errno(path, "listen", errno);
  return {};
}

IpcPath::~IpcPath() {
  remove();
}

IpcPath::IpcPath(IpcPath&& other) noexcept {
  *this = std::move(other);
}

IpcPath& IpcPath::operator=(IpcPath&& other) noexcept {
  if (this == &other) return *this;
  remove();
  path_ = std::exchange(other.path_, {});
  lock_ = std::exchange(other.lock_, -1);
  listener_ = std::exchange(other.listener_, -1);
  device_ = other.device_;
  inode_ = std::exchange(other.inode_, 0);
  return *this;
}

int IpcPath::release_listener() {
  return std::exchange(listener_, -1);
}

void IpcPath::abandon() {
  path_.clear();
  inode_ = 0;
  if (lock_ >= 0) ::close(std::exchange(lock_, -1));
}

void IpcPath::remove() {
  if (listener_ >= 0) ::close(std::exchange(listener_, -1));
  struct stat found{};
  if (inode_ != 0 && ::lstat(path_.c_str(), &found) == 0 && found.st_ino == inode_ &&
      found.st_dev == device_) {
    ::unlink(path_.c_str());
  }
  if (lock_ < 0) return;
  // Removed while it is still locked, so that nobody can lock a file that has no name any more.
  ::unlink((path_ + ".lock").c_str());
  ::close(std::exchange(lock_, -1));
  inode_ = 0;
}

}  // namespace runwire::bus
