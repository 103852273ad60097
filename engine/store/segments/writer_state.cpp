#include "engine/store/segments/writer_state.hpp"

#include "engine/store/segments/batch_builder.hpp"

#include <algorithm>

namespace runwire::segments {

WriterState state_at(const Scan& scan, ByteView file, std::uint64_t length) {
  WriterState state{.chain = chain_start(file), .last = scan.header.base, .term = scan.header.term};
  for (const ScannedBatch& batch : scan.batches) {
    if (batch.end() > length) break;
    state.chain = chain_next(state.chain, file.subspan(batch.offset));
    state.end = batch.end();
    state.last = batch.header.last;
    state.term = std::max(state.term, batch.header.term);
    ++state.batches;
  }
  state.synced_bytes = state.end;
  state.synced_to = state.last;
  return state;
}

}  // namespace runwire::segments
