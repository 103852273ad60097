#include "bus/source/page_plan.hpp"

#include <algorithm>
#include <utility>

namespace runwire::bus {
namespace {

Position upto_of(const Positions& now, wire::Level level) {
  // The two are read one after the other: a younger `acknowledged` is cut to what is committed.
  return level == wire::Level::committed ? now.committed
                                         : std::min(now.acknowledged, now.committed);
}

PageBounds bounds_of(const wire::Read& read, std::size_t bytes_max) {
  return {.events_max = static_cast<std::size_t>(read.max_events),
          .bytes_max = std::max<std::size_t>(1, std::min<std::size_t>(read.max_bytes, bytes_max))};
}

std::unexpected<Error> ahead(const Store& store, const wire::Read& read, std::uint64_t latest) {
  return fail(
      Error{ErrorCode::cursor_ahead, "the cursor is beyond what was ever committed here", {}}
          .with("requested", read.after)
          .with("latest", latest)
          .with("log", to_string(store.log_id()))
          .with("term", store.term().value));
}

Result<PlannedPage> plan_log(const Store& store,
                             const wire::Read& read,
                             PlannedPage plan,
                             Position upto,
                             PageBounds bounds) {
  if (read.after > plan.reply.committed.value)
    return ahead(store, read, plan.reply.committed.value);
  plan.reply.next = read.after;
  plan.reply.latest = upto.value;
  plan.reply.earliest = store.earliest().value;
  if (read.after < upto.value) {
    auto page = store.read_log(Position{read.after}, upto, bounds);
    if (!page) return fail(std::move(page.error()));
    fill_span(plan.reply.span, *page);
    if (!page->empty()) plan.reply.next = page->entries.back().position.value;
    plan.events = std::move(page->events);
  }
  plan.reply.end = plan.reply.next == upto.value;
  return plan;
}

Result<PlannedPage> plan_subject(const Store& store,
                                 const wire::Read& read,
                                 PlannedPage plan,
                                 Position upto,
                                 PageBounds bounds) {
  auto found = store.find_subject(*read.subject);
  if (!found) return fail(std::move(found.error()));
  const SubjectInfo info = found->value_or(SubjectInfo{});
  if (read.after > info.last.value) return ahead(store, read, info.last.value);
  plan.reply.subject = read.subject;
  plan.reply.next = read.after;
  plan.reply.earliest = std::max<std::uint64_t>(info.first.value, 1);
  plan.reply.span.owner_term = info.owner_term;
  if (info.origin != store.log_id() && info.origin != LogId{}) plan.reply.span.origin = info.origin;
  auto page = store.read_subject(*read.subject, Sequence{read.after}, upto, bounds);
  if (!page) return fail(std::move(page.error()));
  fill_span(plan.reply.span, *page);
  if (!page->empty()) plan.reply.next = page->entries.back().seq.value;
  const bool reached = !page->empty() && !page->more;
  const auto latest =
      reached ? Result<Sequence>{page->entries.back().seq} : last_at_level(store, info, upto);
  if (!latest) return fail(latest.error());
  plan.reply.latest = latest->value;
  plan.events = std::move(page->events);
  plan.reply.end = plan.reply.next == plan.reply.latest;
  return plan;
}

/// True where the subject's event `seq` is there and has a position up to `upto`.
Result<bool> is_shown(const Store& store,
                      const SubjectInfo& info,
                      std::uint64_t seq,
                      Position upto) {
  auto page =
      store.read_subject(info.name, Sequence{seq - 1}, upto, {.events_max = 1, .bytes_max = 1});
  if (!page) return fail(std::move(page.error()));
  return !page->empty();
}

}  // namespace

void fill_span(wire::Span& span, const Page& page) {
  span.count = page.entries.size();
  if (page.empty()) return;
  span.first = page.entries.front().position;
  span.last = page.entries.back().position;
  if (page.consecutive()) return;
  span.positions.reserve(page.entries.size());
  for (const PageEntry& entry : page.entries)
    span.positions.push_back(entry.position);
}

Result<PlannedPage> plan_page(const Store& store,
                              const Positions& now,
                              const wire::Read& read,
                              std::size_t bytes_max) {
  if (read.log && *read.log != store.log_id()) {
    return fail(Error{ErrorCode::cursor_foreign, "the cursor belongs to another log", {}}
                    .with("requested_log", to_string(*read.log))
                    .with("log", to_string(store.log_id())));
  }
  PlannedPage plan;
  plan.reply.committed = now.committed;
  plan.reply.acknowledged = upto_of(now, wire::Level::acknowledged);
  const Position upto = upto_of(now, read.level);
  const PageBounds bounds = bounds_of(read, bytes_max);
  if (read.subject) return plan_subject(store, read, std::move(plan), upto, bounds);
  return plan_log(store, read, std::move(plan), upto, bounds);
}

Result<Sequence> last_at_level(const Store& store, const SubjectInfo& info, Position upto) {
  if (info.last_position <= upto) return info.last;
  const std::uint64_t floor = std::max<std::uint64_t>(info.first.value, 1) - 1;
  // What is beyond the level is at the end and mostly short: doubling steps backwards, then
  // halving.
  std::uint64_t hidden = info.last.value;
  std::uint64_t shown = floor;
  for (std::uint64_t step = 1; hidden > floor + step; step *= 2) {
    const auto there = is_shown(store, info, info.last.value - step, upto);
    if (!there) return fail(there.error());
    if (*there) {
      shown = info.last.value - step;
      break;
    }
    hidden = info.last.value - step;
    if (info.last.value < floor + 2 * step) break;
  }
  while (hidden > shown + 1) {
    const std::uint64_t middle = shown + (hidden - shown) / 2;
    const auto there = is_shown(store, info, middle, upto);
    if (!there) return fail(there.error());
    (*there ? shown : hidden) = middle;
  }
  return Sequence{shown};
}

Result<Shown> shown_at_level(const Store& store, std::string_view subject, Position upto) {
  auto found = store.find_subject(subject);
  if (!found) return fail(std::move(found.error()));
  if (!*found) return Shown{.origin = store.log_id()};
  const SubjectInfo& info = **found;
  const auto last = last_at_level(store, info, upto);
  if (!last) return fail(last.error());
  RunState state = info.state;
  // A terminal is its subject's last event, so one that is not shown yet leaves the run open.
  if (*last != info.last && ended(state)) state = RunState::open;
  if (*last == Sequence{}) state = RunState::none;
  return Shown{.last = *last, .state = state, .origin = info.origin, .owner_term = info.owner_term};
}

}  // namespace runwire::bus
