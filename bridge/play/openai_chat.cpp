#include "bridge/play/adapters.hpp"
#include "bridge/play/usage.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace runwire::play {
namespace {

/// OpenAI Chat Completions and what calls itself compatible: chunks with deltas by choice, calls by
/// index, a finish reason as the end, the usage with it or after it. A chunk with another id after
/// the end begins the next completion.
class OpenAiChat final : public StreamAdapter {
 public:
  explicit OpenAiChat(RunBuilder& run) : run_(run) {}
  void take(const Json& event) override;
  void end() override;

 private:
  struct Call {
    std::string id{};
    std::string key{};
  };

  void begin(const Json& chunk);
  void complete();
  void choice(const Json& choice);
  void content(const std::string& choice, const Json& content);
  void prose(const std::string& choice, Root root, std::string_view text);
  void call(const std::string& choice, const Json& call, std::size_t place);

  RunBuilder& run_;
  std::string id_{};
  std::string finish_{};
  Usage usage_{};
  std::map<std::string, Root> speaking_{};  ///< Choice to what it last said: text or reasoning.
  std::map<std::string, Call> calls_{};     ///< Choice and index to the newest call there.
  std::uint64_t keys_ = 0;
  bool refused_ = false;
};

void OpenAiChat::take(const Json& event) {
  if (const Json* error = member(event, "error")) {
    const bool object = error->is_object();
    return run_.stream_error(
        object ? provider_problem(*error)
               : Problem{.code = std::string(provider_error), .message = text_of(error)});
  }
  const Json* choices = member(event, "choices");
  if (choices == nullptr || !choices->is_array()) return;
  const bool says = !choices->empty();
  const std::string_view id = text_at(event, "id");
  const bool next = says && !finish_.empty() && id != id_;
  if (next) complete();
  if (!run_.operation_open()) {
    // A chunk before the first choice may have neither id nor model: it begins nothing.
    if (!says || (run_.operation_failed() && id == id_)) return;
    begin(event);
  }
  for (const Json& one : *choices)
    choice(one);
  usage_.read(member(event, "usage"));
}

void OpenAiChat::begin(const Json& chunk) {
  run_.start_operation(text_at(chunk, "model"));
  id_ = text_at(chunk, "id");
  finish_.clear();
  usage_ = {};
  speaking_.clear();
  calls_.clear();
  refused_ = false;
}

void OpenAiChat::complete() {
  run_.complete_operation(refused_ ? "refusal" : finish_of(finish_), usage_.to_json());
  finish_.clear();
}

void OpenAiChat::end() {
  if (run_.operation_open() && !finish_.empty()) complete();
}

void OpenAiChat::choice(const Json& choice) {
  const auto index = count_at(choice, "index");
  const std::string name = std::to_string(index.value_or(0));
  if (const Json* delta = member(choice, "delta")) {
    for (const std::string_view field : {"reasoning_content", "reasoning"}) {
      prose(name, Root::reasoning, text_at(*delta, field));
    }
    if (const Json* said = member(*delta, "content")) content(name, *said);
    if (const std::string_view refusal = text_at(*delta, "refusal"); !refusal.empty()) {
      refused_ = true;
      prose(name, Root::text, refusal);
    }
    const Json* calls = member(*delta, "tool_calls");
    if (calls != nullptr && calls->is_array()) {
      std::size_t place = 0;
      for (const Json& one : *calls)
        call(name, one, place++);
    }
  }
  const std::string_view reason = text_at(choice, "finish_reason");
  if (!reason.empty()) finish_ = reason;
}

/// Text, or a list of parts, of which thinking is a list again.
void OpenAiChat::content(const std::string& choice, const Json& content) {
  if (content.is_string()) return prose(choice, Root::text, content.get_ref<const std::string&>());
  if (!content.is_array()) return;
  for (const Json& part : content) {
    prose(choice, Root::text, text_at(part, "text"));
    const Json* thinking = member(part, "thinking");
    if (thinking == nullptr) continue;
    if (thinking->is_string()) prose(choice, Root::reasoning, text_of(thinking));
    if (!thinking->is_array()) continue;
    for (const Json& thought : *thinking)
      prose(choice, Root::reasoning, text_at(thought, "text"));
  }
}

/// A choice says one thing at a time: reasoning that resumes after text is another reasoning.
void OpenAiChat::prose(const std::string& choice, Root root, std::string_view text) {
  if (text.empty()) return;
  const std::string key = "said." + choice;
  const auto [said, first] = speaking_.try_emplace(choice, root);
  if (!first && said->second != root) run_.end_content(key);
  said->second = root;
  run_.delta(root, key, text);
}

void OpenAiChat::call(const std::string& choice, const Json& call, std::size_t place) {
  const auto index = count_at(call, "index");
  const std::string slot = choice + "." + std::to_string(index.value_or(place));
  const std::string_view id = text_at(call, "id");
  const Json* function = member(call, "function");
  const std::string_view name =
      function != nullptr ? text_at(*function, "name") : std::string_view();
  const auto known = calls_.find(slot);
  // Some servers put every call at index 0: another id with a name is another call. Another id
  // without a name is the same call under an id that rotates.
  const bool another =
      known != calls_.end() && !id.empty() && id != known->second.id && !name.empty();
  if (known == calls_.end() || another) {
    if (another) run_.end_input(known->second.key, std::nullopt, nullptr);
    Call fresh{.id = std::string(id), .key = "call." + std::to_string(++keys_)};
    run_.start_input(fresh.key, id, name);
    calls_.insert_or_assign(slot, std::move(fresh));
  }
  if (function == nullptr) return;
  if (const Json* arguments = member(*function, "arguments")) {
    run_.input_delta(calls_.at(slot).key, text_of(arguments));
  }
}

}  // namespace

std::unique_ptr<StreamAdapter> openai_chat(RunBuilder& run) {
  return std::make_unique<OpenAiChat>(run);
}

}  // namespace runwire::play
