#include "engine/log/window.hpp"

#include "codec/base/check.hpp"

#include <algorithm>
#include <utility>

namespace runwire {

void Window::add(std::unique_ptr<Batch> batch) {
  for (const Numbered& event : batch->numbered) {
    check(numbered_.empty() || event.position == next(numbered_.back().position),
          "the window has no hole");
    bytes_ += event.encoded.size();
    taken_in_ += event.encoded.size();
    numbered_.push_back(event);
    numbered_.back().end = taken_in_;
  }
  batches_.push_back(std::move(batch));
}

void Window::pop_front() {
  const Position position = numbered_.front().position;
  bytes_ -= numbered_.front().encoded.size();
  numbered_.pop_front();
  while (!batches_.empty() && (batches_.front()->numbered.empty() ||
                               batches_.front()->numbered.back().position <= position)) {
    batches_.pop_front();
  }
}

void Window::drop_after(Position last) {
  while (!numbered_.empty() && numbered_.back().position > last) {
    bytes_ -= numbered_.back().encoded.size();
    taken_in_ -= numbered_.back().encoded.size();
    numbered_.pop_back();
  }
  while (!batches_.empty() && !batches_.back()->numbered.empty() &&
         batches_.back()->numbered.front().position > last) {
    batches_.pop_back();
  }
}

std::size_t Window::bytes_after(Position after) const {
  return holds(after)                            ? taken_in_ - at(after).end
         : (empty() || after > front().position) ? 0
                                                 : bytes_;
}

bool Window::holds(Position position) const {
  return !numbered_.empty() && position >= numbered_.front().position &&
         position <= numbered_.back().position;
}

const Numbered& Window::at(Position position) const {
  check(holds(position), "the window holds what it is asked for");
  return numbered_[position.value - numbered_.front().position.value];
}

Page Window::read(Position after, Position upto, PageBounds bounds) const {
  Page page;
  std::size_t index = next(after).value - numbered_.front().position.value;
  const std::size_t first = index;
  std::size_t bytes = 0;
  for (; index < numbered_.size() && numbered_[index].position <= upto; ++index) {
    const std::size_t size = numbered_[index].encoded.size();
    const std::size_t count = index - first;
    if (count == bounds.events_max || (count > 0 && bytes + size > bounds.bytes_max)) break;
    bytes += size;
  }
  page.events.reserve(bytes);
  page.entries.reserve(index - first);
  for (std::size_t at = first; at < index; ++at) {
    const Numbered& event = numbered_[at];
    page.events.insert(page.events.end(), event.encoded.begin(), event.encoded.end());
    page.entries.push_back({.position = event.position,
                            .seq = event.seq,
                            .bytes = static_cast<std::uint32_t>(event.encoded.size())});
  }
  page.more = index < numbered_.size() && numbered_[index].position <= upto;
  return page;
}

}  // namespace runwire
