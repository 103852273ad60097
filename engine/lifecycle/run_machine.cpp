#include "engine/lifecycle/run_machine.hpp"

#include "codec/base/limits.hpp"

#include <algorithm>
#include <utility>
#include <xxhash.h>

namespace runwire {
namespace {

char letter(Root root) {
  switch (root) {
    case Root::turn:
      return 't';
    case Root::model:
      return 'm';
    case Root::tool:
      return 'c';
    case Root::interaction:
      return 'i';
    case Root::text:
      return 'x';
    case Root::reasoning:
      return 'r';
    case Root::tool_input:
      return 'n';
    default:
      return '?';
  }
}

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

std::string key_of(Root root, const std::string& identity) {
  return std::string{letter(root), ':'} + identity;
}

/// The scope that a new one has to lie in: a turn for model, tool and interaction; an operation for
/// contents; the run itself (empty) for a turn.
std::string parent_key(TypeOf type, const Payload& payload) {
  if (type.root == Root::turn) return {};
  if (type.content()) return key_of(Root::model, payload.operation_id);
  return key_of(Root::turn, std::to_string(payload.turn));
}

std::uint64_t hash(const std::string& key) {
  return XXH3_64bits(key.data(), key.size());
}

std::string_view word(Root root) {
  switch (root) {
    case Root::turn:
      return "turn";
    case Root::model:
      return "model operation";
    case Root::tool:
      return "tool call";
    case Root::interaction:
      return "interaction";
    case Root::text:
      return "text";
    case Root::reasoning:
      return "reasoning";
    case Root::tool_input:
      return "tool input";
    default:
      return "run";
  }
}

std::unexpected<Error> refuse(Root root, const std::string& identity, std::string_view rule) {
  return fail(
      Error{ErrorCode::lifecycle, std::string(word(root)) + " " + std::string(rule), {}}.with(
          "identity", identity));
}

}  // namespace

Status RunMachine::check(TypeOf type, const Payload& payload) const {
  if (type.root == Root::run) return check_run(type);
  if (state_ == RunState::none) return fail(ErrorCode::lifecycle, "the run has not started");
  if (ended(state_)) return fail(ErrorCode::lifecycle, "the run has ended");
  if (type.step == Step::started) return check_start(type, payload);
  if (type.ephemeral()) return check_delta(type, payload);
  return check_end(type, payload);
}

Status RunMachine::check_run(TypeOf type) const {
  if (type.step == Step::started) {
    if (state_ == RunState::none) return {};
    return fail(ErrorCode::lifecycle, "the run has started before");
  }
  if (state_ == RunState::none) return fail(ErrorCode::lifecycle, "the run has not started");
  if (ended(state_)) return fail(ErrorCode::lifecycle, "the run has ended");
  if (type.step == Step::completed && !open_.empty()) {
    return fail(Error{ErrorCode::lifecycle, "the run cannot complete while scopes are open", {}}
                    .with("open", open_.size())
                    .with("identity", open_.begin()->second.identity));
  }
  return {};
}

Status RunMachine::check_start(TypeOf type, const Payload& payload) const {
  const std::string identity = identity_of(type.root, payload);
  const std::string key = key_of(type.root, identity);
  if (used_.contains(hash(key))) return refuse(type.root, identity, "was started before");
  if (open_.size() >= limits::open_scopes_max)
    return refuse(type.root, identity, "is one too many open");
  if (used_.size() >= identities_max)
    return refuse(type.root, identity, "is one too many of this run");
  const std::string parent = parent_key(type, payload);
  if (!parent.empty() && !open_.contains(parent)) {
    return refuse(type.root,
                  identity,
                  used_.contains(hash(parent)) ? "cannot start: its parent has ended"
                                               : "cannot start: its parent has not started");
  }
  return {};
}

Status RunMachine::check_end(TypeOf type, const Payload& payload) const {
  const std::string identity = identity_of(type.root, payload);
  const std::string key = key_of(type.root, identity);
  const auto scope = open_.find(key);
  if (scope == open_.end()) {
    return refuse(
        type.root, identity, used_.contains(hash(key)) ? "has ended before" : "was never started");
  }
  if (type.content() && scope->second.parent != key_of(Root::model, payload.operation_id)) {
    return refuse(type.root, identity, "belongs to another operation");
  }
  const auto child =
      std::ranges::find_if(open_, [&](const auto& open) { return open.second.parent == key; });
  if (type.step == Step::completed && child != open_.end()) {
    return refuse(type.root, identity, "cannot complete while it has open children");
  }
  return {};
}

Status RunMachine::check_delta(TypeOf type, const Payload& payload) const {
  const std::string identity = identity_of(type.root, payload);
  const auto scope = open_.find(key_of(type.root, identity));
  if (scope != open_.end()) return {};
  return refuse(type.root,
                identity,
                used_.contains(hash(key_of(type.root, identity))) ? "has ended: nothing follows it"
                                                                  : "was never started");
}

void RunMachine::apply(TypeOf type, const Payload& payload) {
  if (type.root == Root::run) {
    switch (type.step) {
      case Step::started:
        state_ = RunState::open;
        break;
      case Step::completed:
        state_ = RunState::completed;
        break;
      case Step::failed:
        state_ = RunState::failed;
        break;
      default:
        state_ = RunState::cancelled;
        break;
    }
    if (ended(state_)) open_.clear();
    return;
  }
  const std::string identity = identity_of(type.root, payload);
  const std::string key = key_of(type.root, identity);
  if (type.step == Step::started) {
    const std::string parent = parent_key(type, payload);
    if (type.content()) open_[parent].has_content = true;
    used_.insert(hash(key));
    open_[key] = {.root = type.root,
                  .identity = identity,
                  .parent = parent,
                  .name = payload.name,
                  .turn = payload.turn,
                  .order = ++starts_};
  } else if (type.ephemeral()) {
    if (const auto scope = open_.find(key); scope != open_.end()) {
      scope->second.next_index = payload.index + 1;
    }
  } else {
    close(key);
  }
}

void RunMachine::close(const std::string& key) {
  close_under(key);
  open_.erase(key);
}

void RunMachine::close_under(const std::string& key) {
  // Two levels at most lie below a scope: a turn's operations and their contents.
  std::vector<std::string> children;
  for (const auto& [child, scope] : open_) {
    if (scope.parent == key) children.push_back(child);
  }
  for (const std::string& child : children) {
    std::erase_if(open_, [&](const auto& open) { return open.second.parent == child; });
    open_.erase(child);
  }
}

std::vector<OpenScope> RunMachine::open_under(TypeOf type, const Payload& payload) const {
  const bool whole_run = type.root == Root::run;
  const std::string key = key_of(type.root, identity_of(type.root, payload));
  std::vector<OpenScope> found;
  for (const auto& [name, scope] : open_) {
    const bool content = scope.root >= Root::text;
    if (!content && (whole_run || scope.parent == key)) found.push_back(scope);
  }
  // Turns are the outermost, so they close last; among equals the youngest goes first.
  std::ranges::sort(found, [](const OpenScope& left, const OpenScope& right) {
    const bool left_turn = left.root == Root::turn;
    const bool right_turn = right.root == Root::turn;
    if (left_turn != right_turn) return right_turn;
    return left.order > right.order;
  });
  return found;
}

}  // namespace runwire
