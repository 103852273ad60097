#pragma once

#include "codec/base/result.hpp"
#include "codec/base/strong.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace runwire::bus {

/// Where the sockets of one server listen: all beside the requests' endpoint. Over ipc they have
/// its path and a suffix, over tcp its host and a free port.
class Endpoints {
 public:
  /// `invalid` unless `listen` may be bound (see judge_bind) and leaves room for the suffixes.
  static Result<Endpoints> beside(std::string_view listen);

  [[nodiscard]] const std::string& requests() const { return requests_; }
  [[nodiscard]] std::string live() const { return sibling("live"); }
  [[nodiscard]] std::string acks() const { return sibling("acks"); }
  /// Of one attach; `number` is never used twice in one life of a server. The term keeps a consumer
  /// of an earlier life, whose socket connects again by itself, away from what another one attaches
  /// to.
  [[nodiscard]] std::string attach(Term term, std::uint64_t number) const;
  /// Removes the attach sockets that a server which was killed has left beside this path. Pre: the
  /// caller holds the path, so that no other server can be behind them.
  void remove_left_attaches() const;

 private:
  [[nodiscard]] std::string sibling(std::string_view suffix) const;

  std::string requests_{};
  std::string host_{};  ///< tcp: the endpoint up to its port; empty: ipc.
};

}  // namespace runwire::bus
