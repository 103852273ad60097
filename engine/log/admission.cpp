#include "engine/log/admission.hpp"

#include "codec/base/check.hpp"
#include "codec/base/limits.hpp"
#include "codec/wire/event_codec.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace runwire {
namespace {

const Payload& payload_of(const Staged& staged, const StagedEvent& event) {
  static const Payload none{};
  return event.payload == StagedEvent::no_payload ? none : staged.payloads[event.payload];
}

std::span<std::byte> encoded_of(Staged& staged, const StagedEvent& event) {
  return std::span(staged.bytes).subspan(event.offset, event.bytes);
}

/// The stored event is the staged one where the staged one, given its numbers, is the same bytes.
bool same_content(const Staged& staged, const StagedEvent& event, const EventView& stored) {
  const ByteView encoded = staged.encoded(event);
  if (encoded.size() != stored.encoded.size()) return false;
  Bytes copy(encoded.begin(), encoded.end());
  wire::stamp(copy, event.stamps, stored.time, stored.durable ? stored.durable->seq : Sequence{});
  return std::ranges::equal(copy, stored.encoded);
}

}  // namespace

Admission::Admission(Parts parts, AdmissionBounds bounds)
    : parts_(parts), bounds_(bounds), ids_(bounds.ids_max), appended_(parts.store.last()) {
  building_->last = appended_;
}

Admitted Admission::admit(std::unique_ptr<Staged> staged) {
  Admitted admitted;
  admitted.reply.subject = staged->subject;
  admitted.reply.level = staged->level;
  if (staged->subject.empty()) {
    admit_nameless(*staged, admitted);
    return admitted;
  }
  Staged& request = *staged;
  // Kept alive by the batch even where everything is refused: a number may already point into it.
  building_->appends.push_back(std::move(staged));
  if (auto status = check_order(request); !status) {
    admitted.error = std::move(status.error());
    return admitted;
  }
  auto subject = parts_.subjects.find_or_make(request.subject);
  if (!subject) {
    admitted.error = std::move(subject.error());
  } else {
    for (std::size_t index = 0; index < request.events.size(); ++index) {
      if (auto status = admit_event(**subject, request, index, admitted); !status) {
        admitted.error = std::move(status.error());
        request.refused_id = request.events[index].id;
        break;
      }
      ++admitted.reply.taken;
    }
  }
  if (!admitted.error && request.refusal) admitted.error = std::move(request.refusal);
  if (admitted.error && request.client != InstanceId{}) {
    refusals_.remember(request.client, request.subject, request.refused_id);
  }
  return admitted;
}

void Admission::admit_nameless(Staged& staged, Admitted& admitted) {
  for (const StagedEvent& event : staged.events) {
    wire::stamp(encoded_of(staged, event), event.stamps, parts_.clock.wall(), {});
    parts_.live.ephemeral(staged.encoded(event));
    admitted.reply.seqs.emplace_back();
    admitted.reply.positions.emplace_back();
    ++admitted.reply.taken;
  }
  if (staged.refusal) admitted.error = std::move(staged.refusal);
}

Status Admission::check_order(const Staged& staged) {
  if (refusals_.empty() || staged.client == InstanceId{}) return {};
  const auto refused = refusals_.find(staged.client, staged.subject);
  if (!refused) return {};
  const EventId first = staged.events.empty() ? staged.refused_id : staged.events.front().id;
  if (staged.go_on || first == *refused) {
    refusals_.forget(staged.client, staged.subject);
    return {};
  }
  return fail(Error{ErrorCode::out_of_order,
                    "an earlier append of this subject was refused; go on from that event",
                    {}}
                  .with("subject", staged.subject)
                  .with("refused", to_string(*refused)));
}

Error Admission::over(Subject& subject) const {
  if (subject.end_reason.empty()) {
    // It ended in an earlier life of the log, or left memory since: its last event says why.
    const auto page = parts_.store.read_subject(
        subject.name, {subject.last.value - 1}, parts_.store.last(), {.events_max = 1});
    std::size_t offset = 0;
    const auto last = page ? wire::decode_event(page->events, offset)
                           : fail(ErrorCode::not_found, "the terminal cannot be read");
    if (last) subject.end_reason = read_reason(last->data);
  }
  Error error = Error{ErrorCode::lifecycle, "the run has ended; nothing follows its terminal", {}}
                    .with("subject", subject.name)
                    .with("state", to_string(subject.state))
                    .with("last", subject.last.value);
  return subject.end_reason.empty() ? error : std::move(error).with("reason", subject.end_reason);
}

Status Admission::check_claim(Subject& subject, const Staged& staged) const {
  // A late owner is told what became of its run, not that it holds nothing.
  if (ended(subject.state)) return fail(over(subject));
  if (!subject.claim) {
    if (!staged.epoch) return {};
    return fail(Error{ErrorCode::not_owner, "the run is not claimed; claim it first", {}}.with(
        "subject", subject.name));
  }
  const RunClaim& claim = *subject.claim;
  if (staged.epoch == claim.epoch && staged.client == claim.holder) return {};
  const bool stale = staged.epoch && *staged.epoch < claim.epoch;
  return fail(Error{stale ? ErrorCode::fenced : ErrorCode::not_owner,
                    stale ? "the run was taken over under a higher epoch"
                          : "the run is claimed by another appender",
                    {}}
                  .with("subject", subject.name)
                  .with("epoch", claim.epoch.value));
}

Status Admission::check_room(const StagedEvent& event, Room reserve) const {
  const std::size_t events = parts_.window.events() + building_->numbered.size();
  const std::size_t bytes = parts_.window.bytes() + building_->bytes;
  const std::size_t events_max = bounds_.window_events_max + reserve.events;
  const std::size_t bytes_max = bounds_.window_bytes_max + reserve.bytes;
  if (events < events_max && bytes + event.bytes <= bytes_max) return {};
  return fail(Error{
      ErrorCode::backpressure,
      "too much is committed and not acknowledged; see `runwire observers`, retry later",
      {}}.with("events", events)
                  .with("events_max", events_max)
                  .with("bytes", bytes)
                  .with("bytes_max", bytes_max));
}

Status Admission::admit_event(Subject& subject,
                              Staged& staged,
                              std::size_t index,
                              Admitted& admitted) {
  StagedEvent& event = staged.events[index];
  if (!event.durable) {
    if (!was_shown(staged, index)) {
      if (auto status = admit_ephemeral(subject, staged, event); !status) return status;
    }
    admitted.reply.seqs.emplace_back();
    admitted.reply.positions.emplace_back();
    return {};
  }
  auto duplicate = find_duplicate(staged, event);
  if (!duplicate) return fail(std::move(duplicate.error()));
  if (*duplicate) {
    admitted.reply.duplicates.push_back(index);
    admitted.reply.seqs.push_back((*duplicate)->seq);
    admitted.reply.positions.push_back((*duplicate)->position);
    admitted.last = std::max(admitted.last, (*duplicate)->position);
    admitted.last_seq = std::max(admitted.last_seq, (*duplicate)->seq);
  } else {
    if (auto status = check_claim(subject, staged); !status) return status;
    if (auto status = admit_durable(subject, staged, event); !status) return status;
    admitted.reply.seqs.push_back(subject.last);
    admitted.reply.positions.push_back(appended_);
    admitted.last = appended_;
    admitted.last_seq = subject.last;
  }
  if (admitted.first == Position{}) admitted.first = admitted.reply.positions.back();
  return {};
}

/// In a request that was sent before: the durable event behind this ephemeral one is in the log, so
/// this one was shown in its place then, and would come late now.
bool Admission::was_shown(Staged& staged, std::size_t index) {
  if (!staged.again) return false;
  for (++index; index < staged.events.size(); ++index) {
    if (!staged.events[index].durable) continue;
    const auto duplicate = find_duplicate(staged, staged.events[index]);
    return duplicate && *duplicate;
  }
  return false;
}

Status Admission::admit_ephemeral(Subject& subject, Staged& staged, const StagedEvent& event) {
  Status allowed = check_claim(subject, staged);
  const Payload& payload = payload_of(staged, event);
  if (allowed && event.type.root != Root::user) {
    if (subject.machine) {
      allowed = subject.machine->check(event.type, payload);
    } else if (subject.state != RunState::open) {
      allowed = fail(ErrorCode::lifecycle, "the run has not started");
    }
  }
  if (!allowed) {
    // A repeat of a request whose reply was lost: what no longer fits was shown the first time.
    if (staged.again && allowed.error().code == ErrorCode::lifecycle) return {};
    return allowed;
  }
  if (subject.machine && event.type.root != Root::user) subject.machine->apply(event.type, payload);
  wire::stamp(encoded_of(staged, event), event.stamps, time_for(subject), {});
  parts_.live.ephemeral(subject, staged.encoded(event));
  return {};
}

Status Admission::admit_durable(Subject& subject, Staged& staged, StagedEvent& event) {
  if (staged.expect && *staged.expect != subject.last) {
    return fail(Error{ErrorCode::unexpected_seq, "the subject has moved on", {}}
                    .with("expected", staged.expect->value)
                    .with("last", subject.last.value));
  }
  const Payload& payload = payload_of(staged, event);
  if (event.type.root != Root::user) {
    static const RunMachine fresh{};
    const RunMachine& machine = subject.machine ? *subject.machine : fresh;
    if (auto status = machine.check(event.type, payload); !status) return status;
  }
  // Terminals have room of their own, so that a run can always end.
  const Room reserve = event.type.terminal()
                           ? Room{limits::window_reserve_events, limits::window_reserve_bytes}
                           : Room{};
  if (auto status = check_room(event, reserve); !status) return status;
  if (event.type.step == Step::failed || event.type.step == Step::cancelled) {
    close_children(
        subject,
        event.type,
        payload,
        event.type.step == Step::failed ? Cause::parent_failed : Cause::parent_cancelled);
  }
  number(subject, staged, event);
  staged.expect.reset();  // it speaks of the first durable event alone
  return {};
}

Result<std::optional<Admission::Duplicate>> Admission::find_duplicate(
    const Staged& staged, const StagedEvent& event) const {
  const auto place = ids_.find(event.id);
  if (!place) return std::nullopt;
  Page page;
  ByteView encoded;
  if (parts_.window.holds(*place)) {
    encoded = parts_.window.at(*place).encoded;
  } else if (!building_->numbered.empty() && *place >= building_->numbered.front().position) {
    encoded =
        building_->numbered[place->value - building_->numbered.front().position.value].encoded;
  } else {
    auto stored = parts_.store.read_log(Position{place->value - 1}, *place, {.events_max = 1});
    if (!stored) {
      // Trimmed meanwhile: nothing is left to compare with, so the id is free again.
      if (stored.error().code == ErrorCode::cursor_expired) return std::nullopt;
      return fail(std::move(stored.error()));
    }
    page = std::move(*stored);
    encoded = page.events;
  }
  std::size_t offset = 0;
  auto view = wire::decode_event(encoded, offset);
  if (!view) return fail(std::move(view.error()));
  if (view->id != event.id) return std::nullopt;
  const Sequence seq = view->durable ? view->durable->seq : Sequence{};
  if (same_content(staged, event, *view)) return Duplicate{*place, seq};
  return fail(Error{ErrorCode::conflict, "this event id was used before, with other content", {}}
                  .with("id", to_string(event.id))
                  .with("seq", seq.value)
                  .with("position", place->value));
}

void Admission::close_children(Subject& subject, TypeOf type, const Payload& payload, Cause cause) {
  if (!subject.machine) return;
  const auto scopes = subject.machine->open_under(type, payload);
  if (scopes.empty()) return;
  number_own(subject, close_scopes(scopes, cause, parts_.ids, parts_.clock.wall()));
}

void Admission::end_run(Subject& subject, Cause cause) {
  if (!subject.machine) return;
  constexpr TypeOf run_failed{Root::run, Step::failed};
  close_children(subject, run_failed, {}, cause);
  std::vector<Draft> last;
  last.push_back(close_run(cause, parts_.ids, parts_.clock.wall()));
  number_own(subject, std::move(last));
}

Status Admission::note(Draft draft) {
  auto subject = parts_.subjects.find_or_make(std::string(bus_subject));
  if (!subject) return fail(std::move(subject.error()));
  draft.id = parts_.ids.event_id(parts_.clock.wall());
  std::vector<Draft> drafts;
  drafts.push_back(std::move(draft));
  auto staged = stage_own((*subject)->name, std::move(drafts));
  constexpr Room reserve{limits::window_reserve_events + limits::window_notes_max,
                         limits::window_reserve_bytes + limits::window_note_bytes_max};
  if (auto room = check_room(staged->events.front(), reserve); !room) return room;
  building_->appends.push_back(std::move(staged));
  Staged& own = *building_->appends.back();
  number(**subject, own, own.events.front());
  return {};
}

void Admission::number_own(Subject& subject, std::vector<Draft> drafts) {
  building_->appends.push_back(stage_own(subject.name, std::move(drafts)));
  Staged& own = *building_->appends.back();
  for (StagedEvent& event : own.events)
    number(subject, own, event);
}

WallMicros Admission::time_for(Subject& subject) const {
  subject.time = std::max(subject.time, parts_.clock.wall());
  return subject.time;
}

void Admission::number(Subject& subject, Staged& staged, StagedEvent& event) {
  appended_ = next(appended_);
  subject.last = next(subject.last);
  ++subject.unpublished;
  const WallMicros time = time_for(subject);
  wire::stamp(encoded_of(staged, event), event.stamps, time, subject.last);
  follow_lifecycle(subject, staged, event);
  const ByteView encoded = staged.encoded(event);
  building_->records.push_back({.subject = subject.name,
                                .bytes = encoded,
                                .position = appended_,
                                .seq = subject.last,
                                .time = time,
                                .state = subject.state,
                                .local = subject.local});
  building_->numbered.push_back({.subject = &subject,
                                 .seq = subject.last,
                                 .position = appended_,
                                 .state = subject.state,
                                 .encoded = encoded});
  building_->bytes += encoded.size();
  building_->last = appended_;
  ids_.add(event.id, appended_);
}

void Admission::follow_lifecycle(Subject& subject, const Staged& staged, const StagedEvent& event) {
  if (!event.type.scope() && !event.type.content()) return;
  if (!subject.machine) {
    subject.machine = std::make_unique<RunMachine>();
    subject.local = staged.local;
  }
  subject.machine->apply(event.type, payload_of(staged, event));
  subject.state = subject.machine->state();
  if (!ended(subject.state)) return;
  subject.machine.reset();
  std::size_t offset = 0;
  if (const auto view = wire::decode_event(staged.encoded(event), offset)) {
    subject.end_reason = read_reason(view->data);
  }
  if (subject.claim) {
    control({.kind = RecordKind::claim, .number = subject.claim->epoch.value}, subject.name, {});
    subject.claim.reset();
  }
}

void Admission::control(const Record& record, std::string name, Bytes value) {
  building_->add_control(record, std::move(name), std::move(value));
}

std::unique_ptr<Batch> Admission::seal() {
  auto sealed = std::exchange(building_, std::make_unique<Batch>());
  building_->last = appended_;
  return sealed;
}

void Admission::take_back(Position committed) {
  ids_.forget_after(committed, appended_);
  appended_ = committed;
  building_ = std::make_unique<Batch>();
  building_->last = committed;
}

Result<std::unique_ptr<RunMachine>> rebuild_machine(const Store& store, std::string_view subject) {
  auto machine = std::make_unique<RunMachine>();
  Sequence after{};
  for (bool more = true; more;) {
    auto page = store.read_subject(subject, after, store.last(), {});
    if (!page) return fail(std::move(page.error()));
    auto events = wire::decode_events(page->events);
    if (!events) return fail(std::move(events.error()));
    for (const EventView& event : *events) {
      const TypeOf type = classify(event.type);
      if (type.root == Root::user || type.unknown_reserved()) continue;
      auto payload = read_payload(type, event.data);
      if (!payload) return fail(std::move(payload.error()));
      machine->apply(type, *payload);
    }
    more = page->more;
    if (!page->empty()) after = page->entries.back().seq;
  }
  return machine;
}

}  // namespace runwire
