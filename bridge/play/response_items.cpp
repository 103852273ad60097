#include "bridge/play/response_items.hpp"

#include <nlohmann/json.hpp>

namespace runwire::play {

ItemKind kind_of(std::string_view item_type) {
  if (item_type == "message" || item_type == "reasoning") return ItemKind::content;
  if (item_type == "mcp_approval_request") return ItemKind::approval;
  if (item_type.ends_with("_call") || item_type == "program") return ItemKind::call;
  if (item_type.ends_with("_output")) return ItemKind::output;
  return ItemKind::other;
}

std::string tool_name(const Json& item) {
  if (const std::string_view name = text_at(item, "name"); !name.empty()) return std::string(name);
  std::string_view type = text_at(item, "type");
  if (type.ends_with("_call")) type.remove_suffix(5);
  if (type.ends_with("_output")) type.remove_suffix(7);
  return std::string(type);
}

std::string call_id_of(const Json& item) {
  const std::string_view call_id = text_at(item, "call_id");
  return std::string(call_id.empty() ? text_at(item, "id") : call_id);
}

CallInput call_input(const Json& item) {
  const std::string_view type = text_at(item, "type");
  if (type == "custom_tool_call") return {.value = member(item, "input")};
  if (type == "code_interpreter_call" || type == "program") {
    return {.value = member(item, "code"), .wrapped_in = "code"};
  }
  if (type == "file_search_call") {
    return {.value = member(item, "queries"), .wrapped_in = "queries"};
  }
  if (type == "apply_patch_call") return {.value = member(item, "operation")};
  if (const Json* arguments = member(item, "arguments")) {
    return {.value = arguments, .is_json_text = arguments->is_string()};
  }
  return {.value = member(item, "action")};
}

bool is_for_the_client(const Json& item) {
  const std::string_view type = text_at(item, "type");
  if (type == "tool_search_call") return text_at(item, "execution") == "client";
  return type == "function_call" || type == "custom_tool_call" || type == "local_shell_call" ||
         type == "apply_patch_call" || type == "computer_call" || type == "shell_call";
}

const Json* result_of(const Json& item) {
  const std::string_view type = text_at(item, "type");
  const Json* found = nullptr;
  if (type == "tool_search_output") {
    found = member(item, "tools");
  } else if (type == "program_output") {
    found = member(item, "result");
  } else if (type == "code_interpreter_call") {
    found = member(item, "outputs");
  } else if (type == "file_search_call") {
    found = member(item, "results");
  } else if (type == "mcp_call" || type.ends_with("_output")) {
    found = member(item, "output");
  }
  const bool nothing = found != nullptr && found->is_array() && found->empty();
  return nothing ? nullptr : found;
}

}  // namespace runwire::play
