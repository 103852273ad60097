#pragma once

#include "bus/client/connection.hpp"
#include "codec/base/result.hpp"
#include "codec/wire/messages.hpp"

#include <utility>
#include <variant>

namespace runwire::cli {

/// One question and the body of its answer. Errors: what the server says, `invalid` where it
/// answers something else.
template <class Reply>
Result<Reply> ask(client::Connection& connection, wire::Operation operation) {
  auto answered = connection.call(std::move(operation));
  if (!answered) return fail(std::move(answered.error()));
  if (answered->reply.error) return fail(*std::move(answered->reply.error));
  if (auto* reply = std::get_if<Reply>(&answered->reply.answer)) return std::move(*reply);
  return fail(ErrorCode::invalid, "the server answered something else; is it of another version?");
}

}  // namespace runwire::cli
