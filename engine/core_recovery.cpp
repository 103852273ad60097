// What the core does before anybody is served: it takes up acks, ids, claims and open runs.

#include "codec/base/limits.hpp"
#include "codec/wire/event_codec.hpp"
#include "engine/core.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace runwire {

Status Core::recover() {
  if (auto status = recover_ids(); !status) return status;
  if (auto status = recover_window(); !status) return status;
  observers_.record_start(admission_);
  std::map<std::string, ClaimInfo> claims;
  for (ClaimInfo& claim : world_.store.control().claims) {
    std::string name = claim.subject;
    claims.emplace(std::move(name), std::move(claim));
  }
  std::string after;
  for (bool more = true; more;) {
    auto open = world_.store.subjects({}, after, limits::subjects_page_max, true);
    if (!open) return fail(std::move(open.error()));
    for (const SubjectInfo& info : *open) {
      if (auto status = recover_run(info, claims); !status) return status;
      // A run that ends does so within one batch; many runs need not fit into one.
      const bool full = admission_.building().records.size() >= limits::batch_events_max ||
                        admission_.building().bytes >= limits::batch_bytes_max;
      if (!full) continue;
      if (auto status = write_all(); !status) return status;
    }
    more = open->size() == limits::subjects_page_max;
    if (more) after = open->back().name;
  }
  // A claim may stand before its run: nothing to end, but the holder still holds it.
  for (const auto& [name, claim] : claims) {
    auto subject = subjects_.find_or_make(name);
    if (!subject) return fail(std::move(subject.error()));
    if ((*subject)->claim || ended((*subject)->state)) continue;
    claims_.restore(**subject, claim.holder, claim.epoch, world_.clock.now());
  }
  return write_all();
}

Status Core::write_all() {
  for (;;) {
    const auto records = next_batch();
    if (records.empty() && !writing()) return {};
    const Status written = world_.store.append(records);
    completed(written);
    if (!written) return written;
  }
}

Status Core::recover_run(const SubjectInfo& info, const std::map<std::string, ClaimInfo>& claims) {
  auto found = subjects_.find_or_make(info.name);
  if (!found) return fail(std::move(found.error()));
  Subject& subject = **found;
  auto machine = rebuild_machine(world_.store, info.name);
  if (!machine) return fail(std::move(machine.error()));
  subject.machine = std::move(*machine);
  if (const auto claim = claims.find(info.name); claim != claims.end()) {
    claims_.restore(subject, claim->second.holder, claim->second.epoch, world_.clock.now());
  } else if (info.local) {
    admission_.end_run(subject, Cause::engine_restart);
  }
  return {};
}

Status Core::recover_ids() {
  const std::uint64_t last = committed_.value;
  const std::uint64_t oldest = world_.store.earliest().value - 1;
  const std::uint64_t reach = last > admission_.ids_max() ? last - admission_.ids_max() : 0;
  Position after{std::max(oldest, reach)};
  while (after < committed_) {
    auto page = world_.store.read_log(after, committed_, {});
    if (!page) return fail(std::move(page.error()));
    auto events = wire::decode_events(page->events);
    if (!events) return fail(std::move(events.error()));
    for (std::size_t at = 0; at < events->size(); ++at) {
      admission_.remember((*events)[at].id, page->entries[at].position);
    }
    if (page->empty()) break;
    after = page->entries.back().position;
  }
  return {};
}

Status Core::recover_window() {
  Position after = acknowledged_;
  while (after < committed_) {
    auto page = world_.store.read_log(after, committed_, {});
    if (!page) return fail(std::move(page.error()));
    if (page->empty()) break;
    auto batch = std::make_unique<Batch>();
    const Bytes& bytes = batch->values.emplace_back(std::move(page->events));
    std::size_t offset = 0;
    for (const PageEntry& entry : page->entries) {
      const ByteView encoded = ByteView(bytes).subspan(offset, entry.bytes);
      std::size_t start = 0;
      auto event = wire::decode_event(encoded, start);
      if (!event) return fail(std::move(event.error()));
      auto subject = subjects_.find_or_make(event->subject);
      if (!subject) return fail(std::move(subject.error()));
      // Published up to just before the first of its events that is still to be shown.
      if ((*subject)->unpublished++ == 0) (*subject)->published = Sequence{entry.seq.value - 1};
      batch->numbered.push_back({.subject = *subject,
                                 .seq = entry.seq,
                                 .position = entry.position,
                                 .state = (*subject)->state,
                                 .encoded = encoded});
      offset += entry.bytes;
    }
    after = page->entries.back().position;
    batch->last = after;
    window_.add(std::move(batch));
  }
  return {};
}

}  // namespace runwire
