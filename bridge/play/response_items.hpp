#pragma once

#include "bridge/play/json.hpp"

#include <string>
#include <string_view>

namespace runwire::play {

/// How one type of output item of the Responses API is played.
enum class ItemKind { content, call, output, approval, other };

/// `*_call` is a call and `*_output` is the result of one; what is unknown is `other`.
[[nodiscard]] ItemKind kind_of(std::string_view item_type);

/// The name of the tool that a call item calls: what it says, else its type without `_call`.
[[nodiscard]] std::string tool_name(const Json& item);

/// The id that ties a call to its result: `call_id`, else the item's own.
[[nodiscard]] std::string call_id_of(const Json& item);

/// A call's input as its type has it, null where it has none yet; text is JSON text only where
/// `is_json_text`, else it is the input itself.
struct CallInput {
  const Json* value = nullptr;
  std::string wrapped_in{};  ///< The input is an object with this one key.
  bool is_json_text = false;
};
[[nodiscard]] CallInput call_input(const Json& item);

/// Does the model wait for somebody outside to run this call?
[[nodiscard]] bool is_for_the_client(const Json& item);

/// The result that a call or output item carries itself; null: none.
[[nodiscard]] const Json* result_of(const Json& item);

}  // namespace runwire::play
