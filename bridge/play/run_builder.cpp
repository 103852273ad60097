#include "bridge/play/run_builder.hpp"

#include "bridge/play/text.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace runwire::play {
namespace {

const Problem parent_failed = {.code = "parent_failed", .message = "the scope around it failed"};

std::string_view scope_name(Root root) {
  switch (root) {
    case Root::turn:
      return "turn";
    case Root::model:
      return "model";
    case Root::tool:
      return "tool";
    default:
      return "interaction";
  }
}

/// The identity of a scope as its terminal carries it.
Json identity_fields(const OpenItem& item, Payload& payload) {
  switch (item.root) {
    case Root::turn:
      payload.turn = std::stoull(item.identity);
      return {{"turn", payload.turn}};
    case Root::model:
      payload.operation_id = item.identity;
      return {{"operation_id", item.identity}};
    case Root::tool:
      payload.call_id = item.identity;
      return {{"call_id", item.identity}, {"name", item.name}};
    default:
      payload.interaction_id = item.identity;
      return {{"interaction_id", item.identity}};
  }
}

}  // namespace

bool RunBuilder::room() {
  if (ended()) return false;
  if (steps_.size() < options_.steps_max) return true;
  abort(
      {.code = std::string(recording_too_large), .message = "the run is over its bound of events"});
  return false;
}

void RunBuilder::start_run(const Json* recorded) {
  if (ledger_.run_started()) return;
  Json data = recorded == nullptr ? Json::object() : *recorded;
  if (!options_.agent.empty()) data["agent"] = options_.agent;
  for (const auto& [key, value] : options_.labels) {
    if (!data["labels"].is_object()) data["labels"] = Json::object();
    data["labels"][key] = value;
  }
  emit("run.started", std::move(data), {});
}

void RunBuilder::start_turn() {
  start_run(nullptr);
  if (turn_open_) return;
  ++turn_;
  turn_open_ = true;
  attempt_ = 0;
  emit("turn.started", {{"turn", turn_}}, {.turn = turn_});
}

void RunBuilder::start_operation(std::string_view model) {
  if (!room()) return;
  if (operation_open_) {
    fail_operation({.code = std::string(stream_restarted),
                    .message = "the stream began anew before its end",
                    .retryable = true});
  }
  if (turn_open_ && attempt_ > 0 && !failed_) complete_turn();
  start_turn();
  if (!room()) return;
  ++operations_;
  ++attempt_;
  contents_ = 0;
  contents_by_key_.clear();
  failed_.reset();
  operation_open_ = true;
  const std::string_view name = blank(model) ? "unknown" : clip(model, Bounds::name_bytes_max);
  emit("model.started",
       {{"turn", turn_}, {"operation_id", operation_id()}, {"model", name}, {"attempt", attempt_}},
       {.turn = turn_, .operation_id = operation_id()});
}

bool RunBuilder::operation_streamed() const {
  const OpenItem* operation = ledger_.open(Root::model, operation_id());
  return operation != nullptr && operation->streamed;
}

void RunBuilder::complete_operation(std::string_view finish, const Json& usage) {
  if (!room() || !operation_open_) return;
  close_under(Root::model, operation_id(), nullptr, true);
  operation_open_ = false;
  emit("model.completed",
       {{"operation_id", operation_id()},
        {"finish", blank(finish) ? "unknown" : clip(finish, Bounds::name_bytes_max)},
        {"usage", usage}},
       {.operation_id = operation_id()});
}

void RunBuilder::fail_operation(const Problem& problem) {
  if (ended() || !operation_open_) return;
  Problem placed = problem;
  if (placed.line == 0) placed.line = line_;
  close_under(Root::model, operation_id(), &placed, false);
  close(*ledger_.open(Root::model, operation_id()), &placed, false);
  operation_open_ = false;
  failed_ = std::move(placed);
}

void RunBuilder::stream_error(const Problem& problem) {
  if (operations_ == 0) start_operation({});
  if (operation_open_) return fail_operation(problem);
  if (!failed_) abort(problem);
}

void RunBuilder::complete_turn() {
  if (ended() || !turn_open_) return;
  if (operation_open_) complete_operation({}, Json::object());
  for (const OpenItem& item : ledger_.open_under(Root::turn, std::to_string(turn_))) {
    close(item, item.root == Root::tool ? &parent_failed : nullptr, true);
  }
  turn_open_ = false;
  emit("turn.completed", {{"turn", turn_}}, {.turn = turn_});
}

void RunBuilder::close(const OpenItem& item, const Problem* problem, bool finished) {
  if (item.root == Root::tool_input) return end_tool_input(item, nullptr, finished);
  if (item.root >= Root::text) return end_text(item);
  Payload payload;
  Json data = identity_fields(item, payload);
  const std::string scope(scope_name(item.root));
  if (problem == nullptr) {
    data["reason"] = finished ? "recording_ended" : "parent_cancelled";
    return emit(scope + ".cancelled", std::move(data), std::move(payload));
  }
  data["problem"] = to_json(*problem);
  if (item.root == Root::model) data["position"] = item.streamed ? "mid_stream" : "before_stream";
  if (item.root == Root::tool) {
    // Whether it took effect cannot be known of a tool whose result was never seen.
    data["outcome"] = "uncertain";
    data["retry"] = "never";
  }
  emit(scope + ".failed", std::move(data), std::move(payload));
}

void RunBuilder::close_under(Root root,
                             std::string_view identity,
                             const Problem* problem,
                             bool finished) {
  for (const OpenItem& item : ledger_.open_under(root, identity))
    close(item, problem, finished);
}

void RunBuilder::abort(Problem problem) {
  if (ended()) return;
  if (problem.line == 0) problem.line = line_;
  start_run(nullptr);
  for (const OpenItem& item : ledger_.open_under(Root::run, {})) {
    const bool bystander = item.root == Root::tool || item.root == Root::interaction;
    close(item, bystander ? &parent_failed : &problem, false);
  }
  operation_open_ = false;
  turn_open_ = false;
  emit("run.failed", {{"problem", to_json(problem)}}, {});
}

void RunBuilder::abort_stream(Problem problem) {
  if (operations_ == 0) start_operation({});
  abort(std::move(problem));
}

std::vector<Step> RunBuilder::finish() && {
  if (operation_open_) {
    abort({.code = std::string(stream_incomplete), .message = "the stream has no end marker"});
  } else if (failed_) {
    abort(*failed_);
  } else if (!ledger_.run_started()) {
    abort({.code = std::string(recording_empty), .message = "the recording says nothing"});
  }
  complete_turn();
  if (!ended()) emit("run.completed", Json::object(), {});
  return std::move(steps_);
}

}  // namespace runwire::play
