#include "bus/source/topics.hpp"

#include "codec/event/types.hpp"
#include "codec/wire/messages.hpp"

#include <utility>

namespace runwire::bus {

std::optional<Topic::Kind> kind_of_topic(std::string_view name) {
  if (name.empty() || name.size() > limits::topic_bytes_max || name.back() != '/')
    return std::nullopt;
  if (name == wire::log_topic) return Topic::Kind::log;
  if (name == wire::heartbeat_topic) return Topic::Kind::heartbeat;
  if (name.size() == 1) return Topic::Kind::nameless;
  if (!check_subject(name.substr(0, name.size() - 1))) return std::nullopt;
  return Topic::Kind::subject;
}

std::unique_ptr<Topic>* TopicTable::slot_of(Topic::Kind kind) {
  if (kind == Topic::Kind::log) return &log_;
  if (kind == Topic::Kind::heartbeat) return &heartbeat_;
  return nullptr;
}

Topic* TopicTable::add(std::string_view name) {
  const auto kind = kind_of_topic(name);
  if (!kind) return nullptr;
  const auto make = [&] {
    auto topic = std::make_unique<Topic>();
    topic->kind = *kind;
    topic->name = name;
    topic->number = next_number_++;
    return topic;
  };
  if (std::unique_ptr<Topic>* slot = slot_of(*kind)) {
    if (!*slot) *slot = make();
    return slot->get();
  }
  const std::string_view subject = name.substr(0, name.size() - 1);
  if (const auto found = subjects_.find(subject); found != subjects_.end())
    return found->second.get();
  if (subjects_.size() >= topics_max_) return nullptr;
  return subjects_.emplace(std::string(subject), make()).first->second.get();
}

std::unique_ptr<Topic> TopicTable::remove(std::string_view name) {
  const auto kind = kind_of_topic(name);
  if (!kind) return nullptr;
  if (std::unique_ptr<Topic>* slot = slot_of(*kind)) return std::move(*slot);
  const auto found = subjects_.find(name.substr(0, name.size() - 1));
  if (found == subjects_.end()) return nullptr;
  auto topic = std::move(found->second);
  subjects_.erase(found);
  return topic;
}

Topic* TopicTable::find(std::string_view subject) const {
  const auto found = subjects_.find(subject);
  return found == subjects_.end() ? nullptr : found->second.get();
}

std::size_t TopicTable::size() const {
  return subjects_.size() + (log_ ? 1U : 0U) + (heartbeat_ ? 1U : 0U);
}

}  // namespace runwire::bus
