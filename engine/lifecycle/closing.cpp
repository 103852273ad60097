#include "engine/lifecycle/closing.hpp"

#include "codec/json/canonical.hpp"

#include <string>
#include <utility>

namespace runwire {
namespace {

std::string_view sentence(Cause cause) {
  switch (cause) {
    case Cause::parent_failed:
      return "closed because the scope around it failed";
    case Cause::parent_cancelled:
      return "closed because the scope around it was cancelled";
    case Cause::engine_restart:
      return "the process that ran it died; its outcome is unknown";
    case Cause::owner_lost:
      return "the lease of its owner lapsed; its outcome is unknown";
  }
  return {};
}

std::string field(std::string_view key, std::string_view text) {
  return json::quote(key) + ":" + json::quote(text);
}

std::string problem(Cause cause) {
  return "\"problem\":{" + field("code", to_string(cause)) + "," +
         field("message", sentence(cause)) + ",\"retryable\":false}";
}

std::string identity(const OpenScope& scope) {
  switch (scope.root) {
    case Root::turn:
      return "\"turn\":" + scope.identity;
    case Root::model:
      return field("operation_id", scope.identity);
    case Root::tool:
      return field("call_id", scope.identity) + "," + field("name", scope.name);
    default:
      return field("interaction_id", scope.identity);
  }
}

std::string_view root_name(Root root) {
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

/// What a failed scope says beyond its identity and its problem. An interrupted tool may have had
/// its effect: uncertain, and not to be tried again blindly.
std::string failed_extras(const OpenScope& scope) {
  if (scope.root == Root::model) {
    return std::string(",") + field("position", scope.has_content ? "mid_stream" : "before_stream");
  }
  if (scope.root == Root::tool) return R"(,"outcome":"uncertain","retry":"never")";
  return {};
}

Draft draft(std::string type, std::string data, IdSource& ids, WallMicros now) {
  return {.id = ids.event_id(now), .type = std::move(type), .data = std::move(data)};
}

}  // namespace

std::string_view to_string(Cause cause) {
  switch (cause) {
    case Cause::parent_failed:
      return "parent_failed";
    case Cause::parent_cancelled:
      return "parent_cancelled";
    case Cause::engine_restart:
      return "engine_restart";
    case Cause::owner_lost:
      return "owner_lost";
  }
  return {};
}

std::vector<Draft> close_scopes(const std::vector<OpenScope>& scopes,
                                Cause cause,
                                IdSource& ids,
                                WallMicros now) {
  std::vector<Draft> drafts;
  drafts.reserve(scopes.size());
  for (const OpenScope& scope : scopes) {
    const std::string root(root_name(scope.root));
    if (cause == Cause::parent_cancelled) {
      drafts.push_back(draft(root + ".cancelled",
                             "{" + identity(scope) + "," + field("reason", to_string(cause)) + "}",
                             ids,
                             now));
    } else {
      drafts.push_back(
          draft(root + ".failed",
                "{" + identity(scope) + "," + problem(cause) + failed_extras(scope) + "}",
                ids,
                now));
    }
  }
  return drafts;
}

Draft close_run(Cause cause, IdSource& ids, WallMicros now) {
  return draft("run.failed", "{" + problem(cause) + "}", ids, now);
}

}  // namespace runwire
