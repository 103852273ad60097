#pragma once

#include "codec/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace runwire::bus {

/// The thread that made this object, of the process that made it: a fork's child is another one.
///
/// Sockets and clients ask before each use, since ZeroMQ answers a use from elsewhere with silence
/// or an abort much later. A value: it moves with its object, and so keeps the first owner.
class ThreadOwner {
 public:
  ThreadOwner();
  [[nodiscard]] bool here() const;
  /// False in a child of fork(): its I/O threads do not exist and nothing may be closed there.
  [[nodiscard]] bool same_process() const;
  /// `invalid`, and the sentence says which of the two it was.
  [[nodiscard]] Status check_here(std::string_view what) const;

 private:
  std::uint64_t thread_;
  std::uint64_t process_;
};

}  // namespace runwire::bus
