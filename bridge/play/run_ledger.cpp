#include "bridge/play/run_ledger.hpp"

#include "bridge/play/text.hpp"

#include <algorithm>
#include <utility>

namespace runwire::play {
namespace {

std::string key_of(Root root, std::string_view identity) {
  return std::to_string(static_cast<int>(root)) + ":" + std::string(identity);
}

std::string parent_of(TypeOf type, const Payload& payload) {
  if (type.root == Root::turn) return {};
  if (type.content()) return key_of(Root::model, payload.operation_id);
  return key_of(Root::turn, std::to_string(payload.turn));
}

std::unexpected<Error> refuse(std::string_view identity, std::string_view rule) {
  return fail(ErrorCode::lifecycle, std::string(identity) + " " + std::string(rule));
}

}  // namespace

std::string identity_of(Root root, const Payload& payload) {
  switch (root) {
    case Root::turn:
      return std::to_string(payload.turn);
    case Root::model:
      return payload.operation_id;
    case Root::tool:
    case Root::tool_input:
      return payload.call_id;
    case Root::interaction:
      return payload.interaction_id;
    case Root::text:
    case Root::reasoning:
      return payload.content_id;
    default:
      return {};
  }
}

Status RunLedger::check(TypeOf type, const Payload& payload, std::string_view text) const {
  if (run_ended_) return refuse("the run", "has ended");
  if (type.root == Root::run) return check_run(type);
  if (!type.scope() && !type.content()) return {};
  if (!run_started_) return refuse("the run", "has not started");
  if (type.step == Phase::started) return check_start(type, payload);
  const std::string identity = identity_of(type.root, payload);
  const auto found = open_.find(key_of(type.root, identity));
  if (found == open_.end()) {
    return refuse(identity, used(type.root, identity) ? "has ended before" : "was never started");
  }
  if (type.content()) return check_content(type, payload, found->second, text);
  if (type.step != Phase::progress && has_children(found->first)) {
    return refuse(identity, "cannot end before what lies in it");
  }
  return {};
}

Status RunLedger::check_run(TypeOf type) const {
  if (type.step == Phase::started) {
    if (run_started_) return refuse("the run", "has started before");
    return {};
  }
  if (!run_started_) return refuse("the run", "has not started");
  if (!open_.empty()) return refuse("the run", "cannot end before what lies in it");
  return {};
}

Status RunLedger::check_start(TypeOf type, const Payload& payload) const {
  const std::string identity = identity_of(type.root, payload);
  if (used(type.root, identity)) return refuse(identity, "was started before");
  const std::string parent = parent_of(type, payload);
  if (!parent.empty() && !open_.contains(parent)) {
    return refuse(identity, "cannot start: what it belongs to is not open");
  }
  return {};
}

Status RunLedger::check_content(TypeOf type,
                                const Payload& payload,
                                const OpenItem& item,
                                std::string_view text) const {
  if (type.step == Phase::delta) {
    if (payload.index == item.deltas) return {};
    return refuse(item.identity, "has a delta out of order");
  }
  if (item.parent != key_of(Root::model, payload.operation_id)) {
    return refuse(item.identity, "belongs to another operation");
  }
  if (type.root == Root::tool_input) return {};  // Its end counts no deltas: the input is a value.
  if (payload.deltas != item.deltas) return refuse(item.identity, "counts its deltas wrongly");
  if (text != item.text) {
    return refuse(item.identity, "has a full value that its deltas do not make");
  }
  return {};
}

void RunLedger::apply(TypeOf type, const Payload& payload, std::string_view text) {
  if (type.root == Root::run) {
    run_started_ = true;
    run_ended_ = type.step != Phase::started;
    return;
  }
  if (!type.scope() && !type.content()) return;
  const std::string identity = identity_of(type.root, payload);
  const std::string key = key_of(type.root, identity);
  if (type.step == Phase::started) {
    const std::string parent = parent_of(type, payload);
    if (type.content()) open_[parent].streamed = true;
    used_.insert(key);
    open_[key] = {.root = type.root,
                  .identity = identity,
                  .parent = parent,
                  .name = payload.name,
                  .order = ++starts_};
  } else if (type.step == Phase::delta) {
    OpenItem& item = open_[key];
    item.text += text;
    item.escaped_bytes += escaped_bytes(text);
    item.deltas += 1;
  } else if (type.step != Phase::progress) {
    open_.erase(key);
  }
}

bool RunLedger::used(Root root, std::string_view identity) const {
  return used_.contains(key_of(root, identity));
}

const OpenItem* RunLedger::open(Root root, std::string_view identity) const {
  const auto found = open_.find(key_of(root, identity));
  return found == open_.end() ? nullptr : &found->second;
}

bool RunLedger::has_children(const std::string& key) const {
  return std::ranges::any_of(open_, [&](const auto& item) { return item.second.parent == key; });
}

std::vector<OpenItem> RunLedger::open_under(Root root, std::string_view identity) const {
  const std::string key = key_of(root, identity);
  std::vector<OpenItem> found;
  for (const auto& [name, item] : open_) {
    const auto parent = open_.find(item.parent);
    const bool below = parent != open_.end() && parent->second.parent == key;
    if (root == Root::run || item.parent == key || below) found.push_back(item);
  }
  // A root's number grows with its depth: contents lie in operations, operations in turns.
  const auto depth = [](const OpenItem& item) {
    if (item.root == Root::turn) return 0;
    return item.root >= Root::text ? 2 : 1;
  };
  std::ranges::sort(found, [&](const OpenItem& left, const OpenItem& right) {
    if (depth(left) != depth(right)) return depth(left) > depth(right);
    return left.order > right.order;
  });
  return found;
}

}  // namespace runwire::play
