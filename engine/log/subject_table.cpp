#include "engine/log/subject_table.hpp"

#include <utility>

namespace runwire {

Result<Subject*> SubjectTable::find_or_make(std::string_view name) {
  if (Subject* known = in_memory(name)) return known;
  auto info = store_.find_subject(name);
  if (!info) return fail(std::move(info.error()));
  auto subject = std::make_unique<Subject>();
  subject->name = std::string(name);
  subject->origin = store_.log_id();
  if (*info) {
    const SubjectInfo& stored = **info;
    subject->last = stored.last;
    subject->published = stored.last;
    subject->state = stored.state;
    subject->local = stored.local;
    subject->origin = stored.origin;
    subject->owner_term = stored.owner_term;
    subject->time = stored.time;
  }
  Subject* made = subject.get();
  subjects_.emplace(made->name, std::move(subject));
  order_.push_back(made->name);
  return made;
}

Subject* SubjectTable::in_memory(std::string_view name) {
  const auto found = subjects_.find(name);
  return found == subjects_.end() ? nullptr : found->second.get();
}

void SubjectTable::forget_idle() {
  // Two looks for each one over the bound keep this short and still win against growth.
  constexpr std::size_t looks_max = 64;
  for (std::size_t looks = 0; looks < looks_max && subjects_.size() > idle_max_; ++looks) {
    std::string name = std::move(order_.front());
    order_.pop_front();
    const auto found = subjects_.find(name);
    if (found->second->idle()) {
      subjects_.erase(found);
    } else {
      order_.push_back(std::move(name));
    }
  }
}

}  // namespace runwire
