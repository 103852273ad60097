#include "bridge/play/problem.hpp"

#include "bridge/play/recording.hpp"
#include "bridge/play/text.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace runwire::play {
namespace {

/// Errors of the moment: the same request may succeed later.
constexpr std::array<std::string_view, 9> passing = {"api_error",
                                                     "internal_server_error",
                                                     "overloaded",
                                                     "overloaded_error",
                                                     "rate_limit_error",
                                                     "rate_limit_exceeded",
                                                     "server_error",
                                                     "service_unavailable",
                                                     "timeout_error"};

}  // namespace

Json to_json(const Problem& problem) {
  std::string message = problem.message;
  if (problem.line > 0) message = "line " + std::to_string(problem.line) + ": " + message;
  Json json = {{"code", problem.code},
               {"message", shorten(message, Bounds::problem_bytes_max)},
               {"retryable", problem.retryable}};
  if (problem.line > 0) json["details"] = {{"line", problem.line}};
  return json;
}

Problem provider_problem(const Json& error) {
  std::string code = text_of(member(error, "code"));
  if (blank(code)) code = text_at(error, "type");
  if (blank(code)) code = provider_error;
  std::string message(text_at(error, "message"));
  if (blank(message)) message = "the provider reported an error without a message";
  const bool retryable = std::ranges::find(passing, code) != passing.end();
  return {.code = std::string(clip(code, Bounds::name_bytes_max)),
          .message = std::move(message),
          .retryable = retryable};
}

}  // namespace runwire::play
