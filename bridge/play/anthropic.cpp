#include "bridge/play/adapters.hpp"
#include "bridge/play/usage.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace runwire::play {
namespace {

/// Anthropic Messages: message_start, blocks by index, message_delta with the reason and the usage,
/// message_stop. Blocks that are no text, thinking, call or result are the provider's own business.
class AnthropicMessages final : public StreamAdapter {
 public:
  explicit AnthropicMessages(RunBuilder& run) : run_(run) {}
  void take(const Json& event) override;

 private:
  struct Block {
    Root root = Root::user;  ///< `user`: played as nothing.
    Json input{};            ///< Of a call, as its start had it.
  };

  void message_start(const Json& event);
  void message_stop();
  void block_start(const Json& event);
  void block_delta(const Json& event);
  void block_stop(const Json& event);
  void start_of(const std::string& key, const Json& block);
  void tool_result(const Json& block);
  /// False, and the stream ends there, when a content event comes outside of a message.
  [[nodiscard]] bool in_message();
  [[nodiscard]] std::string key_of(const Json& event) const;
  void invalid(std::string message);

  RunBuilder& run_;
  std::string message_id_{};
  std::string reason_{};
  Usage usage_{};
  std::map<std::string, Block> blocks_{};  ///< Open ones, by index.
};

void AnthropicMessages::invalid(std::string message) {
  run_.abort_stream({.code = std::string(stream_invalid), .message = std::move(message)});
}

std::string AnthropicMessages::key_of(const Json& event) const {
  const auto index = count_at(event, "index");
  return index ? std::to_string(*index) : std::string();
}

bool AnthropicMessages::in_message() {
  if (run_.operation_open()) return true;
  // What is left of a failed message is skipped.
  if (!run_.operation_failed()) invalid("content outside of a message");
  return false;
}

void AnthropicMessages::take(const Json& event) {
  const std::string_view type = text_at(event, "type");
  if (type == "message_start") return message_start(event);
  if (type == "error") {
    const Json* error = member(event, "error");
    return run_.stream_error(provider_problem(error != nullptr ? *error : event));
  }
  const bool content = type == "content_block_start" || type == "content_block_delta" ||
                       type == "content_block_stop" || type == "message_delta" ||
                       type == "message_stop";
  if (!content || !in_message()) return;
  if (type == "content_block_start") return block_start(event);
  if (type == "content_block_delta") return block_delta(event);
  if (type == "content_block_stop") return block_stop(event);
  if (type == "message_stop") return message_stop();
  usage_.read(member(event, "usage"));
  const Json* delta = member(event, "delta");
  if (delta != nullptr && member(*delta, "stop_reason") != nullptr) {
    reason_ = text_at(*delta, "stop_reason");
  }
}

void AnthropicMessages::message_start(const Json& event) {
  const Json* message = member(event, "message");
  if (message == nullptr || !message->is_object()) {
    return invalid("a message_start without a message");
  }
  const std::string id(text_at(*message, "id"));
  const bool again = run_.operation_open() && id == message_id_ && !run_.operation_streamed();
  if (again) return usage_.read(member(*message, "usage"));
  run_.start_operation(text_at(*message, "model"));
  message_id_ = id;
  reason_.clear();
  usage_ = {};
  usage_.read(member(*message, "usage"));
  blocks_.clear();
}

void AnthropicMessages::message_stop() {
  run_.complete_operation(finish_of(reason_), usage_.to_json());
  blocks_.clear();
}

void AnthropicMessages::block_start(const Json& event) {
  const std::string key = key_of(event);
  const Json* block = member(event, "content_block");
  if (key.empty() || block == nullptr) return invalid("a block without an index or a content");
  if (blocks_.contains(key)) return invalid("block " + key + " started twice");
  blocks_[key] = {};
  start_of(key, *block);
}

void AnthropicMessages::start_of(const std::string& key, const Json& block) {
  Block& open = blocks_[key];
  const std::string_view type = text_at(block, "type");
  if (type == "text") {
    open.root = Root::text;
    run_.delta(Root::text, key, text_at(block, "text"));
  } else if (type == "thinking") {
    open.root = Root::reasoning;
    run_.delta(Root::reasoning, key, text_at(block, "thinking"));
  } else if (type.ends_with("tool_use")) {
    open.root = Root::tool_input;
    if (const Json* input = member(block, "input")) open.input = *input;
    run_.start_input(key, text_at(block, "id"), text_at(block, "name"));
  } else if (type.ends_with("tool_result")) {
    tool_result(block);
  }
}

void AnthropicMessages::tool_result(const Json& block) {
  const std::string_view call_id = text_at(block, "tool_use_id");
  const Json* content = member(block, "content");
  constexpr std::string_view suffix = "_tool_result";
  const std::string_view type = text_at(block, "type");
  const std::string_view name =
      type.ends_with(suffix) ? type.substr(0, type.size() - suffix.size()) : type;
  run_.start_tool(call_id, name);
  const Json* is_error = member(block, "is_error");
  const bool marked = is_error != nullptr && is_error->is_boolean() && is_error->get<bool>();
  const bool failed = content != nullptr && text_at(*content, "type").ends_with("_error");
  if (!marked && !failed)
    return run_.complete_tool(call_id, content != nullptr ? *content : Json());
  std::string code(failed ? text_at(*content, "error_code") : std::string_view());
  if (code.empty()) code = "tool_error";
  run_.fail_tool(call_id, {.code = std::move(code), .message = text_of(content)});
}

void AnthropicMessages::block_delta(const Json& event) {
  const std::string key = key_of(event);
  const auto block = blocks_.find(key);
  const Json* delta = member(event, "delta");
  if (block == blocks_.end()) return invalid("a delta of block " + key + ", which is not open");
  if (delta == nullptr) return invalid("a delta without content");
  const std::string_view type = text_at(*delta, "type");
  if (type == "text_delta" && block->second.root == Root::text) {
    run_.delta(Root::text, key, text_at(*delta, "text"));
  } else if (type == "thinking_delta" && block->second.root == Root::reasoning) {
    run_.delta(Root::reasoning, key, text_at(*delta, "thinking"));
  } else if (type == "input_json_delta" && block->second.root == Root::tool_input) {
    run_.input_delta(key, text_at(*delta, "partial_json"));
  } else if (type == "text_delta" || type == "thinking_delta" || type == "input_json_delta") {
    invalid("a " + std::string(type) + " in a block of another kind");
  }
}

void AnthropicMessages::block_stop(const Json& event) {
  const std::string key = key_of(event);
  const auto block = blocks_.find(key);
  if (block == blocks_.end()) return invalid("the end of block " + key + ", which is not open");
  if (block->second.root != Root::tool_input) {
    run_.end_content(key);
  } else {
    // A server that does not stream the input gives it whole in the start.
    const Json& input = block->second.input;
    const bool whole = input.is_object() && !input.empty() && run_.content_text(key).empty();
    run_.end_input(key, whole ? std::optional(dump(input)) : std::nullopt, nullptr);
  }
  blocks_.erase(block);
}

}  // namespace

std::unique_ptr<StreamAdapter> anthropic_messages(RunBuilder& run) {
  return std::make_unique<AnthropicMessages>(run);
}

}  // namespace runwire::play
