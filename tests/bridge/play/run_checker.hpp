#pragma once

#include "bridge/play/recording.hpp"
#include "codec/event/types.hpp"
#include "codec/json/canonical.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace runwire::play::test {

using Json = nlohmann::json;

inline Json data_of(const Step& step) {
  return Json::parse(step.draft.data);
}

/// The rules of DESIGN section 3, written down a second time and sharing no code with the builder:
/// what breaks them is told in one sentence. Contents are told apart by kind and identity.
class RunChecker {
 public:
  /// Empty: a legal run with exactly one terminal, its last event.
  static std::string first_violation(const std::vector<Step>& steps) {
    RunChecker checker;
    for (std::size_t at = 0; at < steps.size(); ++at) {
      std::string wrong = checker.step(steps[at]);
      if (!wrong.empty())
        return "event " + std::to_string(at) + " " + steps[at].draft.type + ": " + wrong;
    }
    return checker.run_ends_ == 1
               ? ""
               : "the run has " + std::to_string(checker.run_ends_) + " terminals";
  }

 private:
  struct Content {
    std::string operation;
    std::string text;
    std::uint64_t deltas = 0;
  };

  std::string step(const Step& step) {
    const std::string& type = step.draft.type;
    const Json data = data_of(step);
    if (run_ends_ > 0) return "follows the run's terminal";
    if (step.after.count() < 0) return "waits for a negative time";
    if (step.draft.id != EventId{} || !step.draft.location.empty())
      return "has what is the appender's";
    if (auto canonical = json::canonicalise(step.draft.data); !canonical)
      return canonical.error().message;
    if (auto payload = read_payload(classify(type), step.draft.data); !payload)
      return payload.error().message;
    const std::string verb = type.substr(type.rfind('.') + 1);
    const std::string scope = type.substr(0, type.rfind('.'));
    const bool ephemeral = verb == "delta" || type == "tool.progress";
    if (is_known(scope) && step.draft.durable == ephemeral) return "has the wrong durability";
    if (scope == "run") return run(verb);
    if (!started_) return "comes before run.started";
    if (scope == "text" || scope == "reasoning") return content(scope, verb, scope + "_id", data);
    if (scope == "tool.input") return content(scope, verb, "call_id", data);
    if (scope == "turn") return turn(verb, data);
    if (scope == "model") return child(scope, verb, "operation_id", data);
    if (scope == "tool") return child(scope, verb, "call_id", data);
    if (scope == "interaction") return child(scope, verb, "interaction_id", data);
    return {};
  }

  static bool is_known(const std::string& scope) {
    static const std::set<std::string> known = {
        "run", "turn", "model", "tool", "interaction", "text", "reasoning", "tool.input"};
    return known.contains(scope);
  }

  std::string run(const std::string& verb) {
    if (verb == "started") {
      if (started_) return "starts twice";
      started_ = true;
      return {};
    }
    if (!turns_.empty()) return "ends before its turns";
    ++run_ends_;
    return {};
  }

  std::string turn(const std::string& verb, const Json& data) {
    const std::uint64_t number = data.at("turn");
    if (verb == "started") {
      if (!used_.insert("turn " + std::to_string(number)).second) return "starts twice";
      turns_.insert(number);
      return {};
    }
    for (const auto& [key, parent] : children_) {
      if (parent == number) return "ends before " + key;
    }
    return turns_.erase(number) == 1 ? "" : "is not open";
  }

  std::string child(const std::string& scope,
                    const std::string& verb,
                    const char* field,
                    const Json& data) {
    const std::string id = data.at(field);
    const std::string key = scope + " " + id;
    if (id.empty() || id.size() > 128) return "has an identity of a bad length";
    if (verb == "started") {
      if (!turns_.contains(data.at("turn"))) return "starts in a turn that is not open";
      if (!used_.insert(key).second) return "starts twice";
      children_[key] = data.at("turn");
      if (scope == "tool") tool_names_[id] = data.at("name");
      return {};
    }
    if (!children_.contains(key)) return "is not open";
    if (verb == "progress") return {};
    if (scope == "tool" && tool_names_[id] != data.at("name")) return "ends under another name";
    for (const auto& [content, state] : contents_) {
      if (scope == "model" && state.operation == id) return "ends before " + content;
    }
    children_.erase(key);
    return {};
  }

  std::string content(const std::string& kind,
                      const std::string& verb,
                      const std::string& field,
                      const Json& data) {
    const std::string id = data.at(field);
    const std::string key = kind + " " + id;
    if (id.empty() || id.size() > 128) return "has an identity of a bad length";
    if (verb == "started") {
      const std::string operation = data.at("operation_id");
      if (!children_.contains("model " + operation))
        return "starts in an operation that is not open";
      if (!used_.insert(key).second) return "starts twice";
      contents_[key] = {.operation = operation, .text = {}};
      return {};
    }
    const auto open = contents_.find(key);
    if (open == contents_.end()) return "is not open";
    Content& state = open->second;
    if (verb == "delta") {
      if (data.at("index") != state.deltas++) return "has a delta out of order";
      if (data.at("delta").get_ref<const std::string&>().empty()) return "has an empty delta";
      state.text += data.at("delta").get<std::string>();
      return {};
    }
    if (data.at("operation_id") != state.operation) return "ends in another operation";
    if (data.value("deltas", state.deltas) != state.deltas) return "counts its deltas wrongly";
    std::string wrong = kind == "tool.input" ? ended_input(data, state) : ended_text(data, state);
    contents_.erase(open);
    return wrong;
  }

  static std::string ended_text(const Json& data, const Content& state) {
    return data.at("text") == state.text ? "" : "is not what its deltas make";
  }

  static std::string ended_input(const Json& data, const Content& state) {
    if (data.contains("invalid") == data.contains("input")) return "needs either input or invalid";
    if (!data.contains("invalid")) return {};
    return data.at("invalid") == state.text ? "" : "is not what its deltas make";
  }

  bool started_ = false;
  int run_ends_ = 0;
  std::set<std::string> used_{};
  std::set<std::uint64_t> turns_{};
  std::map<std::string, std::uint64_t> children_{};  ///< Open scopes to their turn.
  std::map<std::string, Content> contents_{};
  std::map<std::string, std::string> tool_names_{};
};

/// Plays and checks; the steps of a legal run.
inline std::vector<Step> played(std::string_view content,
                                Format format,
                                const Options& options = {}) {
  auto steps = to_steps(content, format, options);
  REQUIRE(steps.has_value());
  REQUIRE(RunChecker::first_violation(*steps) == "");
  return *steps;
}

/// The data of every event of one type.
inline std::vector<Json> all(const std::vector<Step>& steps, std::string_view type) {
  std::vector<Json> found;
  for (const Step& step : steps) {
    if (step.draft.type == type) found.push_back(data_of(step));
  }
  return found;
}

/// The data of the only event of that type.
inline Json only(const std::vector<Step>& steps, std::string_view type) {
  const std::vector<Json> found = all(steps, type);
  INFO(type);
  REQUIRE(found.size() == 1);
  return found.front();
}

inline std::string terminal(const std::vector<Step>& steps) {
  return steps.back().draft.type;
}

inline std::string lines(const std::vector<Json>& events) {
  std::string text;
  for (const Json& event : events)
    text += event.dump() + "\n";
  return text;
}

}  // namespace runwire::play::test
