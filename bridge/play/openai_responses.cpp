#include "bridge/play/adapters.hpp"
#include "bridge/play/response_items.hpp"
#include "bridge/play/text.hpp"
#include "bridge/play/usage.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

namespace runwire::play {
namespace {

/// OpenAI Responses: items by `output_index`, since the ids of one item change on some servers; the
/// deltas of their parts; each finished part and item repeated whole; one end with usage.
class OpenAiResponses final : public StreamAdapter {
 public:
  explicit OpenAiResponses(RunBuilder& run) : run_(run) {}
  void take(const Json& event) override;

 private:
  void begin(const Json& event);
  void complete(const Json& response, bool incomplete);
  void part(std::string_view type, const Json& event);
  void full_part(const std::string& key, Root root, std::string_view full);
  void item_added(const Json& event);
  void item_done(const Json& event);
  void message_done(const std::string& item_key, const Json& item);
  void reasoning_done(const std::string& item_key, const Json& item);
  void call_done(const std::string& item_key, const Json& item);
  void call_result(const std::string& call_id, const Json& item);
  void approval(const Json& item);
  void input_part(std::string_view type, const Json& event);
  void invalid(std::string message);

  RunBuilder& run_;
  std::string response_id_{};
  Usage usage_{};
  std::map<std::string, std::string> calls_{};     ///< Item key to the call id it started with.
  std::map<std::string, std::string> commands_{};  ///< Item key to its shell command's index.
  std::set<std::string> waiting_{};  ///< Calls that the client is to run, without a result so far.
  bool refused_ = false;
};

std::string index_of(const Json& event, std::string_view key) {
  const auto index = count_at(event, key);
  return index ? std::to_string(*index) : std::string("-");
}

/// The item that an event is about.
std::string item_key_of(const Json& event) {
  if (const auto index = count_at(event, "output_index")) return std::to_string(*index);
  if (const Json* item = member(event, "item")) return std::string(text_at(*item, "id"));
  return std::string(text_at(event, "item_id"));
}

bool is_input_event(std::string_view type) {
  return type.starts_with("response.function_call_arguments") ||
         type.starts_with("response.mcp_call_arguments") ||
         type.starts_with("response.custom_tool_call_input") ||
         type.starts_with("response.code_interpreter_call_code") ||
         type.starts_with("response.apply_patch_call_operation_diff") ||
         type.starts_with("response.shell_call_command");
}

bool is_text_event(std::string_view type) {
  return type.starts_with("response.output_text.") || type.starts_with("response.refusal.") ||
         type.starts_with("response.reasoning_text.") ||
         type.starts_with("response.reasoning_summary_text.");
}

void OpenAiResponses::invalid(std::string message) {
  run_.abort_stream({.code = std::string(stream_invalid), .message = std::move(message)});
}

void OpenAiResponses::take(const Json& event) {
  const std::string_view type = text_at(event, "type");
  const Json* response = member(event, "response");
  if (type == "response.created") return begin(event);
  if (type == "error" || type == "response.failed") {
    const Json* error = member(response != nullptr ? *response : event, "error");
    if (response != nullptr) usage_.read(member(*response, "usage"));
    return run_.stream_error(provider_problem(error != nullptr ? *error : event));
  }
  const bool ends = type == "response.completed" || type == "response.incomplete";
  const bool item = type == "response.output_item.added" || type == "response.output_item.done";
  if (!ends && !item && !is_text_event(type) && !is_input_event(type)) return;
  if (!run_.operation_open()) {
    // What is left of a failed response is skipped.
    if (!run_.operation_failed()) invalid("output outside of a response");
    return;
  }
  if (ends)
    return complete(response != nullptr ? *response : Json(), type == "response.incomplete");
  if (type == "response.output_item.added") return item_added(event);
  if (item) return item_done(event);
  if (is_input_event(type)) return input_part(type, event);
  part(type, event);
}

void OpenAiResponses::begin(const Json& event) {
  const Json* response = member(event, "response");
  if (response == nullptr) return invalid("a response.created without a response");
  const std::string id(text_at(*response, "id"));
  if (run_.operation_open() && id == response_id_ && !run_.operation_streamed()) return;
  run_.start_operation(text_at(*response, "model"));
  response_id_ = id;
  usage_ = {};
  calls_.clear();
  commands_.clear();
  waiting_.clear();
  refused_ = false;
}

void OpenAiResponses::complete(const Json& response, bool incomplete) {
  usage_.read(member(response, "usage"));
  std::string finish = refused_ ? "refusal" : waiting_.empty() ? "stop" : "tool_calls";
  if (incomplete || text_at(response, "status") == "incomplete") {
    const Json* details = member(response, "incomplete_details");
    finish = details != nullptr ? finish_of(text_at(*details, "reason")) : std::string();
    if (finish.empty()) finish = "incomplete";
  }
  run_.complete_operation(finish, usage_.to_json());
}

void OpenAiResponses::part(std::string_view type, const Json& event) {
  const bool summary = type.starts_with("response.reasoning_summary_text.");
  const bool reasoning = summary || type.starts_with("response.reasoning_text.");
  const bool refusal = type.starts_with("response.refusal.");
  refused_ = refused_ || refusal;
  const std::string key = item_key_of(event) + (summary ? ".summary." : ".content.") +
                          index_of(event, summary ? "summary_index" : "content_index");
  const Root root = reasoning ? Root::reasoning : Root::text;
  if (type.ends_with(".delta")) {
    if (run_.content_known(key) && !run_.content_open(key)) {
      return invalid("a delta of a part that has ended");
    }
    return run_.delta(root, key, text_at(event, "delta"));
  }
  if (type.ends_with(".done")) full_part(key, root, text_at(event, refusal ? "refusal" : "text"));
}

/// A finished part comes whole up to three times; the first one ends it.
void OpenAiResponses::full_part(const std::string& key, Root root, std::string_view full) {
  if (!run_.content_known(key)) run_.delta(root, key, full);
  if (full.empty()) return run_.end_content(key);
  run_.end_content(key, full);
}

void OpenAiResponses::item_added(const Json& event) {
  const Json* item = member(event, "item");
  if (item == nullptr) return invalid("an output item without an item");
  if (kind_of(text_at(*item, "type")) != ItemKind::call) return;
  const std::string key = item_key_of(event);
  const std::string call_id = call_id_of(*item);
  calls_[key] = call_id;
  if (is_for_the_client(*item)) waiting_.insert(call_id);
  run_.start_input(key, call_id, tool_name(*item));
}

void OpenAiResponses::item_done(const Json& event) {
  const Json* item = member(event, "item");
  if (item == nullptr) return invalid("an output item without an item");
  const std::string key = item_key_of(event);
  switch (kind_of(text_at(*item, "type"))) {
    case ItemKind::content:
      return text_at(*item, "type") == "message" ? message_done(key, *item)
                                                 : reasoning_done(key, *item);
    case ItemKind::call:
      if (!calls_.contains(key)) item_added(event);
      return call_done(key, *item);
    case ItemKind::output:
      return call_result(call_id_of(*item), *item);
    case ItemKind::approval:
      return approval(*item);
    case ItemKind::other:
      return;
  }
}

void OpenAiResponses::message_done(const std::string& item_key, const Json& item) {
  const Json* content = member(item, "content");
  if (content == nullptr || !content->is_array()) return;
  std::size_t index = 0;
  for (const Json& part : *content) {
    const bool refusal = text_at(part, "type") == "refusal";
    refused_ = refused_ || refusal;
    full_part(item_key + ".content." + std::to_string(index++),
              Root::text,
              text_at(part, refusal ? "refusal" : "text"));
  }
}

void OpenAiResponses::reasoning_done(const std::string& item_key, const Json& item) {
  for (const std::string_view list : {"summary", "content"}) {
    const Json* parts = member(item, list);
    if (parts == nullptr || !parts->is_array()) continue;
    std::size_t index = 0;
    for (const Json& part : *parts) {
      const std::string key = item_key + "." + std::string(list) + "." + std::to_string(index++);
      full_part(key, Root::reasoning, text_at(part, "text"));
    }
  }
}

void OpenAiResponses::input_part(std::string_view type, const Json& event) {
  const std::string key = item_key_of(event);
  if (!run_.content_known(key)) return invalid("the input of a call that was never added");
  if (!type.ends_with(".delta")) return;  // The whole comes again with the item.
  if (!run_.content_open(key)) return invalid("a delta of an input that has ended");
  if (type.starts_with("response.shell_call_command")) {
    // One call may hold several commands: in the deltas they are lines.
    const std::string command = index_of(event, "command_index");
    const auto [last, first] = commands_.try_emplace(key, command);
    if (!first && last->second != command) run_.input_delta(key, "\n");
    last->second = command;
  }
  run_.input_delta(key, text_at(event, "delta"));
}

void OpenAiResponses::call_done(const std::string& item_key, const Json& item) {
  const CallInput input = call_input(item);
  if (input.is_json_text) {
    run_.end_input(item_key, text_of(input.value), nullptr);
  } else {
    Json value = input.value != nullptr ? *input.value : Json::object();
    if (!input.wrapped_in.empty()) value = Json{{input.wrapped_in, std::move(value)}};
    const bool text = input.value != nullptr && input.value->is_string();
    const bool whole = !text && run_.content_text(item_key).empty() && !value.empty();
    if (whole) run_.input_delta(item_key, dump(value));
    run_.end_input(item_key, text ? std::optional(text_of(input.value)) : std::nullopt, &value);
  }
  if (result_of(item) != nullptr || member(item, "error") != nullptr) {
    call_result(calls_[item_key], item);
  }
}

void OpenAiResponses::call_result(const std::string& call_id, const Json& item) {
  waiting_.erase(call_id);
  run_.start_tool(call_id, tool_name(item));
  if (const Json* error = member(item, "error")) {
    Problem problem = error->is_object() ? provider_problem(*error) : Problem{};
    if (problem.code.empty()) problem = {.code = "tool_error", .message = text_of(error)};
    return run_.fail_tool(call_id, problem);
  }
  const Json* result = result_of(item);
  run_.complete_tool(call_id, result != nullptr ? *result : Json());
}

void OpenAiResponses::approval(const Json& item) {
  std::string prompt = tool_name(item);
  if (const std::string_view server = text_at(item, "server_label"); !server.empty()) {
    prompt += " on " + std::string(server);
  }
  run_.ask(
      text_at(item, "id"), "approval", prompt + ": " + std::string(text_at(item, "arguments")));
}

}  // namespace

std::unique_ptr<StreamAdapter> openai_responses(RunBuilder& run) {
  return std::make_unique<OpenAiResponses>(run);
}

}  // namespace runwire::play
