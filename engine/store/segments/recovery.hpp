#pragma once

#include "codec/base/clock.hpp"
#include "codec/base/result.hpp"
#include "engine/store/open.hpp"
#include "engine/store/segments/catalogue.hpp"
#include "engine/store/segments/control.hpp"
#include "engine/store/segments/writer.hpp"
#include "engine/store/store.hpp"

#include <memory>
#include <string>
#include <vector>

namespace runwire::segments {

/// A log that has been read, mended and opened for writing.
struct Opened {
  LogId log{};
  Term term{};
  std::unique_ptr<Catalogue> catalogue{};
  std::vector<SegmentInfo> catalogued{};
  std::unique_ptr<SegmentWriter> writer{};
  std::shared_ptr<SegmentIndex> active{};
  Checkpoint checkpoint{};
  RecoveryReport report{};
};

struct RecoveryInput {
  Disk& disk;
  std::string catalogue_path{};  ///< Empty: in memory.
  std::uint64_t segment_bytes_max = 0;
  IdSource& ids;
  WallMicros now = 0;
};

/// Pre: the directory's lock is held. On an error nothing that counted was lost: the same call
/// finds it again. A file of a newer version is refused before anything is written.
[[nodiscard]] Result<Opened> recover(const RecoveryInput& input);

}  // namespace runwire::segments
