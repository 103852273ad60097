#include "bridge/play/run_builder.hpp"
#include "bridge/play/text.hpp"
#include "codec/json/canonical.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace runwire::play {
namespace {

/// An output that the engine will take: long ones as text with their end cut off.
Json bounded_output(const Json& output) {
  if (output.is_string()) {
    return shorten(output.get_ref<const std::string&>(), Bounds::output_bytes_max);
  }
  const std::string text = dump(output);
  const bool fits = text.size() <= Bounds::output_bytes_max;
  if (fits && json::canonicalise("[" + text + "]")) return output;
  return shorten(text, Bounds::output_bytes_max);
}

}  // namespace

const RunBuilder::Call* RunBuilder::running(std::string_view call_id) const {
  const auto found = calls_.find(call_id);
  if (found == calls_.end() || ledger_.open(Root::tool, found->second.id) == nullptr)
    return nullptr;
  return &found->second;
}

void RunBuilder::start_tool(std::string_view call_id, std::string_view name) {
  if (!room()) return;
  start_turn();
  auto found = calls_.find(call_id);
  if (found == calls_.end()) {
    const std::string fallback = "call-" + std::to_string(calls_.size() + 1);
    Call call{.id = fresh_id(Root::tool_input, call_id, fallback),
              .name = std::string(blank(name) ? "unknown" : clip(name, Bounds::name_bytes_max))};
    found = calls_.insert_or_assign(std::string(call_id), std::move(call)).first;
  }
  Call& call = found->second;
  if (call.executed) return;  // A second result of one call adds nothing.
  call.executed = true;
  emit("tool.started",
       {{"turn", turn_}, {"call_id", call.id}, {"name", call.name}},
       {.turn = turn_, .call_id = call.id, .name = call.name});
}

void RunBuilder::tool_progress(std::string_view call_id, std::string_view output) {
  const Call* call = running(call_id);
  if (call == nullptr) return;
  std::string_view rest = output;
  for (std::size_t count = 0; count < Bounds::progress_events_max && !rest.empty(); ++count) {
    if (!room()) return;
    const std::string_view piece = clip(rest, Bounds::progress_bytes_max);
    rest.remove_prefix(piece.size());
    emit("tool.progress", {{"call_id", call->id}, {"message", piece}}, {.call_id = call->id});
  }
}

void RunBuilder::complete_tool(std::string_view call_id, const Json& output) {
  const Call* call = running(call_id);
  if (call == nullptr || !room()) return;
  Json data = {{"call_id", call->id}, {"name", call->name}, {"outcome", "success"}};
  if (!output.is_null()) data["output"] = bounded_output(output);
  emit("tool.completed", std::move(data), {.call_id = call->id, .name = call->name});
}

void RunBuilder::fail_tool(std::string_view call_id, const Problem& problem) {
  const Call* call = running(call_id);
  if (call == nullptr || !room()) return;
  emit("tool.failed",
       {{"call_id", call->id},
        {"name", call->name},
        {"problem", to_json(problem)},
        {"outcome", "definitive"},
        {"retry", problem.retryable ? "allowed" : "never"}},
       {.call_id = call->id, .name = call->name});
}

void RunBuilder::ask(std::string_view interaction_id,
                     std::string_view kind,
                     std::string_view prompt) {
  if (!room()) return;
  start_turn();
  const std::string fallback = operation_id() + ".interaction-" + std::to_string(++contents_);
  const std::string id = fresh_id(Root::interaction, interaction_id, fallback);
  emit("interaction.started",
       {{"turn", turn_},
        {"interaction_id", id},
        {"kind", kind},
        {"prompt", shorten(prompt, Bounds::problem_bytes_max)}},
       {.turn = turn_, .interaction_id = id});
}

}  // namespace runwire::play
