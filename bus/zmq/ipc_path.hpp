#pragma once

#include "codec/base/result.hpp"

#include <string>
#include <sys/types.h>

namespace runwire::bus {

/// A listening Unix socket on a path, held by an OS lock on `PATH.lock`.
///
/// libzmq unlinks whatever is at an ipc path before it binds, lets a second process take a live
/// path, and leaves the mode to the umask. So the path is judged, bound and removed here, and
/// libzmq is only given the listening descriptor. Mode 0600 from the first moment.
/// Lifetime: the destructor removes the file if it is still ours, and the lock with it.
class IpcPath {
 public:
  static constexpr std::size_t path_bytes_max = 107;

  /// Errors: `invalid` (abstract, wildcard, or a file that is no socket, which stays untouched),
  /// `too_large`, `locked` (somebody listens there), `internal`.
  static Result<IpcPath> take(const std::string& path, int backlog);
  IpcPath() = default;
  ~IpcPath();
  IpcPath(IpcPath&& other) noexcept;
  IpcPath& operator=(IpcPath&& other) noexcept;
  IpcPath(const IpcPath&) = delete;
  IpcPath& operator=(const IpcPath&) = delete;

  /// The listening descriptor, once: whoever takes it closes it.
  [[nodiscard]] int release_listener();
  /// Forgets the path without removing it: in a fork's child it is the parent's.
  void abandon();

 private:
  void remove();
  Status listen_on(const std::string& path, int backlog);

  std::string path_{};
  int lock_ = -1;
  int listener_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace runwire::bus
