#include "codec/event/types.hpp"

#include <utility>

namespace runwire {
namespace {

/// The root whose name `word` is; `user` for everything else. A look at the length leaves two
/// candidates at most.
Root root_named(std::string_view word) {
  const auto is = [word](std::string_view name, Root root) {
    return word == name ? root : Root::user;
  };
  switch (word.size()) {
    case 3:
      return is("run", Root::run);
    case 4:
      if (word == "text") return Root::text;
      return word == "tool" ? Root::tool : is("turn", Root::turn);
    case 5:
      return is("model", Root::model);
    case 6:
      return is("stream", Root::stream);
    case 8:
      return is("observer", Root::observer);
    case 9:
      return is("reasoning", Root::reasoning);
    case 11:
      return is("interaction", Root::interaction);
    default:
      return Root::user;
  }
}

Step step_named(std::string_view word) {
  const auto is = [word](std::string_view name, Step step) {
    return word == name ? step : Step::none;
  };
  switch (word.size()) {
    case 5:
      return word == "delta" ? Step::delta : is("ended", Step::ended);
    case 6:
      return is("failed", Step::failed);
    case 7:
      return is("started", Step::started);
    case 8:
      return is("progress", Step::progress);
    case 9:
      return word == "completed" ? Step::completed : is("cancelled", Step::cancelled);
    default:
      return Step::none;
  }
}

bool known(TypeOf type) {
  if (type.content()) {
    return type.step == Step::started || type.step == Step::delta || type.step == Step::ended;
  }
  if (!type.scope()) return false;
  if (type.step == Step::progress) return type.root == Root::tool;
  return type.step == Step::started || type.terminal();
}

/// What stands before the first dot, and what behind it.
std::pair<std::string_view, std::string_view> cut(std::string_view type) {
  const std::size_t dot = type.find('.');
  if (dot == std::string_view::npos) return {type, {}};
  return {type.substr(0, dot), type.substr(dot + 1)};
}

}  // namespace

TypeOf classify(std::string_view type) {
  auto [word, rest] = cut(type);
  TypeOf found{root_named(word), Step::none};
  if (found.root == Root::user) return found;
  if (found.root == Root::observer) {
    if (rest == "skipped") found.step = Step::ended;
    return found;
  }
  if (found.root == Root::tool && rest.starts_with("input.")) {
    found.root = Root::tool_input;
    rest = cut(rest).second;
  }
  found.step = step_named(rest);
  if (!known(found)) found.step = Step::none;
  return found;
}

}  // namespace runwire
