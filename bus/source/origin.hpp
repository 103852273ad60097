#pragma once

#include "codec/base/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace runwire::bus {

/// Where a request came from, so that its reply finds back.
struct Origin {
  std::string routing{};  ///< The ROUTER's name of the connection.
  InstanceId client{};
  std::uint64_t rid = 0;
  std::string op{};
};

/// Which client speaks under which routing id. A client may choose its routing id, and a second one
/// with the same id takes the connection over: replies that the first one still waits for must not
/// reach it.
///
/// Owner: the requests thread. Bound: one entry a routing id with unanswered requests.
class Peers {
 public:
  /// A request came in; it is outstanding until answered().
  void asked(const Origin& origin) {
    Peer& peer = peers_[origin.routing];
    peer.client = origin.client;
    ++peer.outstanding;
  }
  /// False where the reply would reach somebody else now.
  [[nodiscard]] bool answered(const Origin& origin) {
    const auto found = peers_.find(origin.routing);
    if (found == peers_.end()) return true;
    const bool same = found->second.client == origin.client;
    if (--found->second.outstanding == 0) peers_.erase(found);
    return same;
  }
  [[nodiscard]] std::size_t size() const { return peers_.size(); }

 private:
  struct Peer {
    InstanceId client{};
    std::size_t outstanding = 0;
  };
  std::unordered_map<std::string, Peer> peers_{};
};

}  // namespace runwire::bus
