#include "codec/event/payload_fields.hpp"

#include <array>

namespace runwire {
namespace {

constexpr std::array<std::string_view, fields_count> keys{
    "turn",         "index",   "deltas",         "attempt",                          //
    "operation_id", "call_id", "interaction_id", "text_id", "reasoning_id", "name",  //
    "model",        "finish",  "outcome",        "kind",    "reason",                //
    "delta",        "text",    "message",                                            //
    "position",     "outcome", "retry",                                              //
    "usage",        "problem",                                                       //
    "input",        "invalid",
};

using enum Field;

FieldSet of_turn(Step step) {
  if (step == Step::failed) return FieldSet(turn, problem);
  if (step == Step::cancelled) return FieldSet(turn, reason);
  return FieldSet(turn);
}

FieldSet of_run(Step step) {
  if (step == Step::failed) return FieldSet(problem);
  if (step == Step::cancelled) return FieldSet(reason);
  return {};
}

FieldSet of_model(Step step) {
  switch (step) {
    case Step::started:
      return FieldSet(turn, operation_id, model, attempt);
    case Step::completed:
      return FieldSet(operation_id, finish, usage);
    case Step::failed:
      return FieldSet(operation_id, problem, position);
    default:
      return FieldSet(operation_id, reason);
  }
}

FieldSet of_tool(Step step) {
  switch (step) {
    case Step::started:
      return FieldSet(turn, call_id, name);
    case Step::progress:
      return FieldSet(call_id, message);
    case Step::completed:
      return FieldSet(call_id, name, outcome);
    case Step::failed:
      return FieldSet(call_id, name, problem, ending, retry);
    default:
      return FieldSet(call_id, name, reason);
  }
}

FieldSet of_interaction(Step step) {
  switch (step) {
    case Step::started:
      return FieldSet(turn, interaction_id, kind);
    case Step::completed:
      return FieldSet(interaction_id);
    case Step::failed:
      return FieldSet(interaction_id, problem);
    default:
      return FieldSet(interaction_id, reason);
  }
}

FieldSet of_content(Step step, Field identity) {
  switch (step) {
    case Step::started:
      return FieldSet(operation_id, identity);
    case Step::delta:
      return FieldSet(identity, index, delta);
    default:
      return FieldSet(operation_id, identity, text, deltas);
  }
}

FieldSet of_tool_input(Step step) {
  switch (step) {
    case Step::started:
      return FieldSet(operation_id, call_id, name);
    case Step::delta:
      return FieldSet(call_id, index, delta);
    default:
      return FieldSet(operation_id, call_id, name, input, invalid);
  }
}

}  // namespace

FieldSet required_fields(TypeOf type) {
  if (type.step == Step::none) return {};
  switch (type.root) {
    case Root::run:
      return of_run(type.step);
    case Root::turn:
      return of_turn(type.step);
    case Root::model:
      return of_model(type.step);
    case Root::tool:
      return of_tool(type.step);
    case Root::interaction:
      return of_interaction(type.step);
    case Root::text:
      return of_content(type.step, text_id);
    case Root::reasoning:
      return of_content(type.step, reasoning_id);
    case Root::tool_input:
      return of_tool_input(type.step);
    default:
      return {};
  }
}

std::string_view key_of(Field field) {
  return keys.at(static_cast<std::size_t>(field));
}

std::optional<Field> field_at(std::string_view key, FieldSet wanted) {
  for (std::size_t at = 0; at < keys.size(); ++at) {
    const auto field = static_cast<Field>(at);
    if (keys[at] == key && wanted.has(field)) return field;
  }
  return std::nullopt;
}

}  // namespace runwire
