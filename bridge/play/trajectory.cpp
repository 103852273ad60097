#include "bridge/play/adapters.hpp"
#include "bridge/play/text.hpp"
#include "bridge/play/usage.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace runwire::play {
namespace {

constexpr std::size_t words_in_delta = 5;
constexpr std::size_t word_bytes_max = 4096;

struct Call {
  std::string id{};
  std::string name{};
  std::string input{};  ///< JSON text.
  std::optional<std::string> output{};
};

/// One step of the agent: what it thought, what it called, what came back.
struct AgentStep {
  std::string thought{};
  std::vector<Call> calls{};
};

Call shell_call(std::string_view action) {
  return {.name = "bash", .input = dump(Json{{"command", action}})};
}

std::vector<Call> calls_of(const Json& step) {
  std::vector<Call> calls;
  if (const Json* made = member(step, "tool_calls"); made != nullptr && made->is_array()) {
    for (const Json& one : *made) {
      const Json* function = member(one, "function");
      if (function == nullptr) continue;
      calls.push_back({.id = std::string(text_at(one, "id")),
                       .name = std::string(text_at(*function, "name")),
                       .input = text_of(member(*function, "arguments"))});
    }
  }
  const std::string_view action = text_at(step, "action");
  if (calls.empty() && !blank(action)) calls.push_back(shell_call(action));
  return calls;
}

/// A step of `trajectory`. What the model said is the thought; a response without one is said, but
/// not where it is the action once more, perhaps in a fence.
AgentStep trajectory_step(const Json& step) {
  AgentStep played;
  played.thought = text_at(step, "thought");
  const std::string_view response = text_at(step, "response");
  const std::string_view action = text_at(step, "action");
  const bool repeats = !blank(action) && response.find(action) != std::string_view::npos;
  if (blank(played.thought) && !repeats) played.thought = response;
  played.calls = calls_of(step);
  const Json* observation = member(step, "observation");
  if (!played.calls.empty() && observation != nullptr) {
    played.calls.back().output = text_of(observation);
  }
  return played;
}

/// The content of a message: text, or a list of parts with text.
std::string message_text(const Json& message) {
  const Json* content = member(message, "content");
  if (content == nullptr || !content->is_array()) return text_of(content);
  std::string text;
  for (const Json& part : *content)
    text += text_at(part, "text");
  return text;
}

/// Gives an observation to the call that it names, else to the first that still has none.
void give_output(AgentStep& step, const Json& message) {
  const Json* ids = member(message, "tool_call_ids");
  const std::string_view id =
      ids != nullptr && ids->is_array() && !ids->empty() && ids->front().is_string()
          ? std::string_view(ids->front().get_ref<const std::string&>())
          : text_at(message, "tool_call_id");
  const auto named = std::ranges::find_if(
      step.calls, [&](const Call& call) { return !id.empty() && call.id == id; });
  const auto open =
      named != step.calls.end()
          ? named
          : std::ranges::find_if(step.calls, [](const Call& call) { return !call.output; });
  if (open != step.calls.end() && !open->output) open->output = message_text(message);
}

/// The steps of a `history`: each assistant message, and what the others answered. Demonstrations
/// that were shown to the model are not part of the run.
std::vector<AgentStep> history_steps(const Json& history) {
  std::vector<AgentStep> steps;
  for (const Json& message : history) {
    const Json* demonstration = member(message, "is_demo");
    if (demonstration != nullptr && demonstration->is_boolean() && demonstration->get<bool>())
      continue;
    if (text_at(message, "role") == "assistant") {
      const std::string_view thought = text_at(message, "thought");
      steps.push_back({.thought = blank(thought) ? message_text(message) : std::string(thought),
                       .calls = calls_of(message)});
    } else if (!steps.empty()) {
      give_output(steps.back(), message);
    }
  }
  return steps;
}

void play_calls(const AgentStep& step, const std::string& prefix, RunBuilder& run) {
  for (std::size_t at = 0; at < step.calls.size(); ++at) {
    const Call& call = step.calls[at];
    if (!call.output) continue;
    const std::string id = call.id.empty() ? prefix + std::to_string(at) : call.id;
    run.start_tool(id, call.name);
    if (call.output->size() > Bounds::progress_bytes_max) run.tool_progress(id, *call.output);
    run.complete_tool(id, Json(*call.output));
  }
}

void play_step(const AgentStep& step, std::string_view model, const Json& usage, RunBuilder& run) {
  run.start_operation(model);
  std::string_view rest = step.thought;
  while (!rest.empty() && !run.ended()) {
    run.delta(Root::text, "thought", take_words(rest, words_in_delta, word_bytes_max));
  }
  run.end_content("thought");
  const std::string prefix = "step-" + std::to_string(run.operations()) + ".call-";
  for (std::size_t at = 0; at < step.calls.size(); ++at) {
    const Call& call = step.calls[at];
    const std::string key = "call-" + std::to_string(at);
    run.start_input(key, call.id.empty() ? prefix + std::to_string(at) : call.id, call.name);
    run.end_input(key, call.input, nullptr);
  }
  run.complete_operation(step.calls.empty() ? "stop" : "tool_calls", usage);
  play_calls(step, prefix, run);
  run.complete_turn();
}

/// The name of the model where the recording's configuration has it.
std::string model_of(const Json& recording) {
  const Json* config = member(recording, "replay_config");
  std::optional<Json> parsed;
  if (config != nullptr && config->is_string()) {
    parsed = parse_json(config->get_ref<const std::string&>());
    config = parsed ? &*parsed : nullptr;
  }
  const Json* agent = config != nullptr ? member(*config, "agent") : nullptr;
  const Json* model = agent != nullptr ? member(*agent, "model") : nullptr;
  return model != nullptr ? std::string(text_at(*model, "name")) : std::string();
}

/// The tokens of the whole run, where they were counted: replayed runs say 0 for "not counted".
Json total_usage(const Json* info) {
  Json usage = Json::object();
  const Json* stats = info != nullptr ? member(*info, "model_stats") : nullptr;
  if (stats == nullptr) return usage;
  const auto sent = count_at(*stats, "tokens_sent").value_or(0);
  const auto received = count_at(*stats, "tokens_received").value_or(0);
  if (sent + received == 0) return usage;
  return {{"input_tokens", sent}, {"output_tokens", received}};
}

void invalid(RunBuilder& run, std::string_view message) {
  run.abort({.code = std::string(recording_invalid), .message = std::string(message)});
}

std::optional<std::vector<AgentStep>> steps_of(const Json& recording) {
  const Json* trajectory = member(recording, "trajectory");
  if (trajectory != nullptr && trajectory->is_array() && !trajectory->empty()) {
    std::vector<AgentStep> steps;
    steps.reserve(trajectory->size());
    for (const Json& step : *trajectory)
      steps.push_back(trajectory_step(step));
    return steps;
  }
  const Json* history = member(recording, "history");
  if (history == nullptr || !history->is_array()) return std::nullopt;
  return history_steps(*history);
}

}  // namespace

void play_trajectory(std::string_view content, RunBuilder& run) {
  const auto recording = parse_json(content);
  if (!recording) return invalid(run, "the recording is not one JSON object");
  const auto steps = steps_of(*recording);
  if (!steps) return invalid(run, "the recording has neither a trajectory nor a history");
  const std::string model = model_of(*recording);
  const Json* info = member(*recording, "info");
  for (std::size_t at = 0; at < steps->size() && !run.ended(); ++at) {
    const bool last = at + 1 == steps->size();
    play_step((*steps)[at], model, last ? total_usage(info) : Json::object(), run);
  }
  const std::string_view status =
      info != nullptr ? text_at(*info, "exit_status") : std::string_view();
  if (steps->empty() || status.empty() || status.starts_with("submitted")) return;
  run.abort({.code = std::string(clip(status, Bounds::name_bytes_max)),
             .message = "the recorded agent stopped without a submission"});
}

}  // namespace runwire::play
