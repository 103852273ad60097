#include "bus/client/history.hpp"

#include <algorithm>
#include <utility>

namespace runwire::client {

void History::start(std::uint64_t cursor) {
  cursor_ = cursor;
  frontier_ = cursor;
  latest_ = cursor;
  stride_ = limits::page_events_max;
  asked_.clear();
  held_.clear();
}

wire::Read History::read_of(std::uint64_t after, std::uint64_t events, bool wait) const {
  wire::Read read;
  read.subject = options_.subject;
  read.after = after;
  read.level = options_.level;
  read.max_events = std::clamp<std::uint64_t>(events, 1, limits::page_events_max);
  read.wait_ms = wait ? options_.wait_ms : 0;
  return read;
}

bool History::covered(std::uint64_t cursor, bool wait) const {
  if (held_.contains(cursor)) return true;
  return std::ranges::any_of(asked_, [&](const Asked& asked) {
    // A read that waits at the end does not answer the question whether there is news now.
    return asked.after == cursor && (wait || !asked.waits);
  });
}

std::uint64_t History::next_known(std::uint64_t cursor) const {
  std::uint64_t nearest = cursor + limits::page_events_max;
  if (const auto held = held_.upper_bound(cursor); held != held_.end()) {
    nearest = std::min(nearest, held->first);
  }
  for (const Asked& asked : asked_) {
    if (asked.after > cursor) nearest = std::min(nearest, asked.after);
  }
  return nearest;
}

std::optional<wire::Read> History::want(bool wait) const {
  if (!covered(cursor_, wait)) return read_of(cursor_, next_known(cursor_) - cursor_, wait);
  if (asked_.size() + held_.size() >= options_.outstanding_max) return std::nullopt;
  const std::uint64_t ahead = std::max(frontier_, cursor_);
  if (ahead >= latest_ || ahead == cursor_) return std::nullopt;
  return read_of(ahead, stride_, false);
}

void History::sent(std::uint64_t rid, const wire::Read& read) {
  asked_.push_back({rid, read.after, read.max_events, read.wait_ms > 0});
  frontier_ = std::max(frontier_, read.after + read.max_events);
}

void History::failed(std::uint64_t rid) {
  std::erase_if(asked_, [rid](const Asked& asked) { return asked.rid == rid; });
}

std::optional<std::uint64_t> History::after_of(std::uint64_t rid) const {
  const auto found = std::ranges::find(asked_, rid, &Asked::rid);
  if (found == asked_.end()) return std::nullopt;
  return found->after;
}

void History::came(std::uint64_t rid, wire::PageReply reply, Batch batch) {
  const auto found = std::ranges::find(asked_, rid, &Asked::rid);
  if (found == asked_.end()) return;
  const Asked asked = *found;
  asked_.erase(found);
  latest_ = std::max(latest_, reply.latest);
  const std::uint64_t count = reply.span.count;
  if (count > 0 && count < asked.events && reply.next < reply.latest) stride_ = count;
  if (asked_.empty() && held_.empty()) frontier_ = reply.next;
  // Behind the cursor: a repetition. One that ends beyond it is read again from there.
  if (asked.after < cursor_) return;
  held_.insert_or_assign(asked.after, Page{std::move(reply), std::move(batch)});
}

std::optional<History::Page> History::pop() {
  const auto found = held_.find(cursor_);
  if (found == held_.end()) return std::nullopt;
  Page page = std::move(found->second);
  held_.erase(held_.begin(), std::next(found));
  cursor_ = std::max(cursor_, page.reply.next);
  return page;
}

}  // namespace runwire::client
