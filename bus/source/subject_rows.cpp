#include "bus/source/subject_rows.hpp"

#include "codec/base/limits.hpp"

#include <algorithm>
#include <utility>

namespace runwire::bus {
namespace {

wire::SubjectRow row_of(SubjectInfo&& info, const Engine& engine) {
  const LogId log = engine.store().log_id();
  wire::SubjectRow row{.subject = std::move(info.name),
                       .state = std::string(to_string(info.state)),
                       .first = info.first,
                       .last = info.last,
                       .first_position = info.first_position,
                       .last_position = info.last_position,
                       .time = info.time,
                       .owner_term = info.owner_term};
  if (info.origin != log && info.origin != LogId{}) row.origin = info.origin;
  // A run that has ended is nobody's, though its claim may still be on record.
  const auto epoch = ended(info.state) ? std::nullopt : engine.claimed(row.subject);
  row.claimed = epoch.has_value();
  row.epoch = epoch.value_or(Epoch{});
  return row;
}

}  // namespace

Result<wire::SubjectsReply> subject_rows(const Engine& engine, const wire::Subjects& request) {
  const Store& store = engine.store();
  const std::size_t count_max = std::min<std::size_t>(request.max, limits::subjects_page_max);
  // One more than asked for tells whether there is more.
  auto found = store.subjects(request.prefix, request.after, count_max + 1, request.open);
  if (!found) return fail(std::move(found.error()));
  wire::SubjectsReply reply{.subjects = {}, .end = found->size() <= count_max};
  found->resize(std::min(found->size(), count_max));
  reply.subjects.reserve(found->size());
  for (SubjectInfo& info : *found)
    reply.subjects.push_back(row_of(std::move(info), engine));
  return reply;
}

}  // namespace runwire::bus
