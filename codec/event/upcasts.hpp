#pragma once

#include "codec/base/result.hpp"
#include "codec/event/event.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace runwire {

/// Brings the data of older schema versions up to date on the way to its user. The log is never
/// rewritten: a stored event keeps the version that it was written in.
///
/// The steps of a type follow each other without a gap: from 1 to 2, from 2 to 3. All types of the
/// reserved roots have version 1 so far, hence no steps; the table is for the types of users, and
/// for reserved ones once they have a second version.
///
/// Threads: const members from any, once the table is complete; steps may be called at once.
/// Bounds: limits::upcast_steps_max steps in all; what a step makes is bounded like any data.
class Upcasts {
 public:
  /// Data of version `from` in, valid JSON text of version `from + 1` out.
  using Step = std::function<Result<std::string>(std::string_view data)>;

  /// The next step of `type`. `invalid` where it does not follow the last one, or where `type` is
  /// none; `too_large` beyond limits::upcast_steps_max.
  Status add(std::string_view type, std::uint32_t from, Step step);

  /// The version that the steps of `type` lead to; 0 where there are none.
  [[nodiscard]] std::uint32_t newest(std::string_view type) const;

  /// The event with data, in canonical form, of the newest version that the table knows. Everything
  /// else of it stays as it was. Untouched are: ephemeral events, types without steps, and versions
  /// that are newer than the table, which are carried and never guessed at.
  ///
  /// Errors: `unsupported` for a version older than the first step (facts `version`, `supported`);
  /// what a step says, or what is wrong with the data that it made, each with the facts `type` and
  /// `version`. The event is lost with the error, so give a copy where it is still needed.
  [[nodiscard]] Result<Event> apply(Event event) const;

 private:
  struct Chain {
    std::uint32_t first = 0;
    std::vector<Step> steps{};
  };

  std::map<std::string, Chain, std::less<>> chains_;
  std::size_t count_ = 0;
};

}  // namespace runwire
