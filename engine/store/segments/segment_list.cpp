#include "engine/store/segments/segment_list.hpp"

#include "engine/store/segments/scan.hpp"

#include <algorithm>
#include <utility>

namespace runwire::segments {

Result<SegmentList> list_segments(Disk& disk) {
  if (auto status = disk.make_directory("segments"); !status)
    return fail(std::move(status.error()));
  // The folder's own name has to last before anything in it counts, and so have the names in it:
  // the process before may have died between a file's rename and the sync of the folder.
  for (const char* folder : {"", "segments"}) {
    if (auto status = disk.sync_directory(folder); !status) return fail(std::move(status.error()));
  }
  auto names = disk.list("segments");
  if (!names) return fail(std::move(names.error()));
  SegmentList list;
  for (const std::string& name : *names) {
    if (const auto number = segment_number(name)) list.numbers.push_back(*number);
    if (name.ends_with(".new")) list.drafts.push_back("segments/" + name);
  }
  std::ranges::sort(list.numbers);
  for (std::size_t at = 1; at < list.numbers.size(); ++at) {
    const std::uint64_t wanted = list.numbers[at - 1] + 1;
    if (list.numbers[at] != wanted)
      return damaged(segment_name(wanted), 0, {}, {}, "the file is missing");
  }
  return list;
}

Status check_start(const SegmentHeader& first, const Checkpoint& checkpoint) {
  if (first.number == 1 || first.base <= checkpoint.trimmed) return {};
  return damaged(segment_name(first.number - 1),
                 0,
                 next(checkpoint.trimmed),
                 first.base,
                 "the file is missing");
}

}  // namespace runwire::segments
