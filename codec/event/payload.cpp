#include "codec/base/limits.hpp"
#include "codec/base/strong.hpp"
#include "codec/event/payload_fields.hpp"
#include "codec/event/types.hpp"
#include "codec/json/padded_parser.hpp"

#include <initializer_list>
#include <simdjson.h>
#include <utility>

namespace runwire {
namespace {

namespace ondemand = simdjson::ondemand;
static_assert(json::padding_bytes >= simdjson::SIMDJSON_PADDING);

std::unexpected<Error> refuse(std::string_view key, std::string_view rule) {
  return fail(
      Error{ErrorCode::invalid, "data." + std::string(key) + ": " + std::string(rule), {}}.with(
          "field", key));
}

Status read_text(ondemand::value& value, std::string_view key, std::string_view& text) {
  if (value.get_string().get(text) == simdjson::SUCCESS) return {};
  return refuse(key, "must be a string");
}

Status read_filled_text(ondemand::value& value,
                        std::string_view key,
                        std::size_t bytes_max,
                        std::string_view& text) {
  if (auto status = read_text(value, key, text); !status) return status;
  if (text.empty()) return refuse(key, "must not be empty");
  if (text.size() <= bytes_max) return {};
  return fail(Error{ErrorCode::too_large, "data." + std::string(key) + ": too long", {}}
                  .with("field", key)
                  .with("limit", bytes_max)
                  .with("bytes", text.size()));
}

/// A text that has to be there and to say something, but is kept by nobody.
Status check_filled_text(ondemand::value& value, std::string_view key) {
  std::string_view text;
  return read_filled_text(value, key, limits::reason_bytes_max, text);
}

/// The type is enough: the text itself, up to a MiB of it, is nobody's concern here.
Status check_type_is(ondemand::value& value,
                     std::string_view key,
                     ondemand::json_type wanted,
                     std::string_view rule) {
  ondemand::json_type type{};
  if (value.type().get(type) == simdjson::SUCCESS && type == wanted) return {};
  return refuse(key, rule);
}

Status check_word(ondemand::value& value,
                  std::string_view key,
                  std::initializer_list<std::string_view> words) {
  std::string_view text;
  if (auto status = read_text(value, key, text); !status) return status;
  std::string rule = "must be";
  for (const std::string_view word : words) {
    if (text == word) return {};
    rule += rule.ends_with("be") ? " " : " or ";
    rule += word;
  }
  return refuse(key, rule);
}

/// `{code, message, retryable, details?}`.
Status check_problem(ondemand::value& value) {
  ondemand::object members;
  if (value.get_object().get(members) != simdjson::SUCCESS)
    return refuse("problem", "must be an object");
  bool code = false;
  bool message = false;
  bool retryable = false;
  for (auto member : members) {
    std::string_view key;
    ondemand::value inner;
    if (member.unescaped_key().get(key) != simdjson::SUCCESS)
      return refuse("problem", "is not JSON");
    if (member.value().get(inner) != simdjson::SUCCESS) return refuse("problem", "is not JSON");
    Status status;
    if (key == "code") {
      code = true;
      status = check_filled_text(inner, "problem.code");
    } else if (key == "message") {
      message = true;
      status =
          check_type_is(inner, "problem.message", ondemand::json_type::string, "must be a string");
    } else if (key == "retryable") {
      retryable = true;
      status = check_type_is(
          inner, "problem.retryable", ondemand::json_type::boolean, "must be true or false");
    }
    if (!status) return status;
  }
  if (!code) return refuse("problem.code", "is missing");
  if (!message) return refuse("problem.message", "is missing");
  return retryable ? Status{} : refuse("problem.retryable", "is missing");
}

/// Reads one object front to back and fills the payload from the fields that its type requires.
class PayloadReader {
 public:
  explicit PayloadReader(TypeOf type) : wanted_(required_fields(type)) {}

  Result<Payload> read(std::string_view data) {
    ondemand::document document;
    ondemand::object members;
    if (json::thread_parser<ondemand::parser>().open({}, data, {}, document) != simdjson::SUCCESS ||
        document.get_object().get(members) != simdjson::SUCCESS) {
      return fail(ErrorCode::invalid, "data: must be an object");
    }
    for (auto member : members) {
      std::string_view key;
      ondemand::value value;
      if (member.unescaped_key().get(key) != simdjson::SUCCESS ||
          member.value().get(value) != simdjson::SUCCESS) {
        return fail(ErrorCode::invalid, "data: is not JSON");
      }
      const std::optional<Field> field = field_at(key, wanted_);
      if (!field) continue;
      seen_.add(*field);
      if (auto status = take(*field, value); !status) return fail(std::move(status.error()));
    }
    if (auto status = check_complete(); !status) return fail(std::move(status.error()));
    return std::move(payload_);
  }

 private:
  Status take(Field field, ondemand::value& value) {
    const std::string_view key = key_of(field);
    switch (field) {
      case Field::turn:
        return take_turn(value);
      case Field::index:
        return take_integer(value, key, payload_.index);
      case Field::deltas:
        return take_integer(value, key, payload_.deltas);
      case Field::attempt:
        return take_integer(value, key, attempt_);
      case Field::operation_id:
        return take_identity(value, key, payload_.operation_id);
      case Field::call_id:
        return take_identity(value, key, payload_.call_id);
      case Field::interaction_id:
        return take_identity(value, key, payload_.interaction_id);
      case Field::text_id:
      case Field::reasoning_id:
        return take_identity(value, key, payload_.content_id);
      case Field::name:
        return take_identity(value, key, payload_.name);
      case Field::model:
      case Field::finish:
      case Field::outcome:
      case Field::kind:
      case Field::reason:
        return check_filled_text(value, key);
      case Field::position:
        return check_word(value, key, {"before_stream", "mid_stream"});
      case Field::ending:
        return check_word(value, key, {"definitive", "uncertain"});
      case Field::retry:
        return check_word(value, key, {"never", "allowed"});
      case Field::usage:
        return check_type_is(value, key, ondemand::json_type::object, "must be an object");
      case Field::problem:
        return check_problem(value);
      case Field::input:
        return {};
      default:
        return check_type_is(value, key, ondemand::json_type::string, "must be a string");
    }
  }

  static Status take_integer(ondemand::value& value, std::string_view key, std::uint64_t& number) {
    if (value.get_uint64().get(number) == simdjson::SUCCESS && number <= exact_integer_max)
      return {};
    return refuse(key, "must be an integer from 0");
  }

  Status take_turn(ondemand::value& value) {
    if (value.get_uint64().get(payload_.turn) == simdjson::SUCCESS && payload_.turn >= 1 &&
        payload_.turn <= exact_integer_max) {
      return {};
    }
    return refuse("turn", "must be an integer from 1");
  }

  static Status take_identity(ondemand::value& value, std::string_view key, std::string& identity) {
    std::string_view text;
    auto status = read_filled_text(value, key, limits::identity_bytes_max, text);
    if (status) identity = text;
    return status;
  }

  Status check_complete() const {
    FieldSet missing = wanted_.without(seen_);
    if (wanted_.has(Field::input)) {
      if (seen_.has(Field::input) == seen_.has(Field::invalid)) {
        return refuse("input", "either `input` or `invalid` is needed, and not both");
      }
      missing = missing.without(FieldSet(Field::input, Field::invalid));
    }
    for (std::size_t at = 0; at < fields_count && !missing.empty(); ++at) {
      const auto field = static_cast<Field>(at);
      if (missing.has(field)) return refuse(key_of(field), "is missing");
    }
    return {};
  }

  FieldSet wanted_;
  FieldSet seen_{};
  Payload payload_{};
  std::uint64_t attempt_ = 0;  ///< Checked, and nobody's concern beyond that.
};

}  // namespace

Result<Payload> read_payload(TypeOf type, std::string_view data) {
  if (type.root == Root::user || type.unknown_reserved()) return Payload{};
  return PayloadReader(type).read(data);
}

std::string read_reason(std::string_view data) {
  ondemand::document document;
  std::string_view found;
  if (json::thread_parser<ondemand::parser>().open({}, data, {}, document) != simdjson::SUCCESS) {
    return {};
  }
  if (document["problem"]["code"].get_string().get(found) != simdjson::SUCCESS) {
    document.rewind();
    if (document["reason"].get_string().get(found) != simdjson::SUCCESS) return {};
  }
  return std::string(found.substr(0, limits::identity_bytes_max));
}

}  // namespace runwire
