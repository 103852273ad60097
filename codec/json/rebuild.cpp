#include "codec/json/rebuild.hpp"

#include "codec/base/limits.hpp"
#include "codec/json/key_order.hpp"
#include "codec/json/number.hpp"
#include "codec/json/padded_parser.hpp"
#include "codec/json/quote.hpp"
#include "codec/json/string_scan.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <simdjson.h>
#include <span>
#include <utility>
#include <vector>

namespace runwire::json {
namespace {

namespace ondemand = simdjson::ondemand;
using Parser = PaddedParser<ondemand::parser>;
static_assert(padding_bytes >= simdjson::SIMDJSON_PADDING);

/// Scalars come with the white space behind them.
std::string_view without_white_space(std::string_view token) {
  const std::size_t last = token.find_last_not_of(" \t\r\n");
  return token.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

/// Reads one document front to back and writes its canonical form into `out_`. The members of the
/// objects that are open stand in one vector; each object sorts its own part when it ends.
class Rebuilder {
 public:
  Rebuilder(Parser& parser, std::size_t text_size) : parser_(parser), text_size_(text_size) {}

  /// The text was put between brackets, so that a scalar is read as any other value: exactly one
  /// element has to be there, and nothing behind the closing bracket.
  Result<std::string> whole(ondemand::document& document) {
    document_ = &document;
    ondemand::array outer;
    if (document.get_array().get(outer) != simdjson::SUCCESS) return fail(broken());
    std::size_t values = 0;
    for (auto element : outer) {
      if (element.error() != simdjson::SUCCESS) return fail(broken());
      if (++values > 1) return fail(malformed("more than one value", here()));
      if (auto status = value(element, 0); !status) return fail(std::move(status.error()));
    }
    if (values == 0) return fail(malformed("no value", text_size_));
    if (!at_end()) return fail(malformed("bytes behind the value", here()));
    return std::move(out_);
  }

 private:
  struct Member {
    std::string_view key;  ///< In the parser's memory, without escapes.
    std::size_t begin;     ///< Of the member in `out_`, quotes of the key included.
    std::size_t end;
  };

  bool at_end() const { return document_->current_location().error() == simdjson::OUT_OF_BOUNDS; }
  std::size_t here() const {
    const char* place = nullptr;
    if (document_->current_location().get(place) != simdjson::SUCCESS) return text_size_;
    return std::min(parser_.offset_of(place), text_size_);
  }
  Error broken() const { return malformed("not JSON", here()); }

  Status value(simdjson::simdjson_result<ondemand::value> found, std::size_t depth) {
    ondemand::value inner;
    ondemand::json_type type{};
    if (std::move(found).get(inner) != simdjson::SUCCESS) return fail(broken());
    if (inner.type().get(type) != simdjson::SUCCESS) return fail(broken());
    Status status;
    switch (type) {
      case ondemand::json_type::object:
        status = object(inner, depth + 1);
        break;
      case ondemand::json_type::array:
        status = array(inner, depth + 1);
        break;
      case ondemand::json_type::string:
        status = string(inner);
        break;
      case ondemand::json_type::number:
        status = number(inner);
        break;
      default:
        status = literal(inner);
        break;
    }
    if (status && out_.size() > limits::data_bytes_max) {
      return fail(Error{ErrorCode::too_large, "data: over the bytes of one event's data", {}}.with(
          "limit", limits::data_bytes_max));
    }
    return status;
  }

  Status check_depth(std::size_t depth) const {
    if (depth <= limits::depth_max) return {};
    return fail(Error{ErrorCode::too_large, "data: nested too deep", {}}
                    .with("limit", limits::depth_max)
                    .with("offset", here()));
  }

  Status array(ondemand::value& found, std::size_t depth) {
    if (auto status = check_depth(depth); !status) return status;
    ondemand::array elements;
    if (found.get_array().get(elements) != simdjson::SUCCESS) return fail(broken());
    out_ += '[';
    bool first = true;
    for (auto element : elements) {
      if (!std::exchange(first, false)) out_ += ',';
      if (auto status = value(element, depth); !status) return status;
    }
    out_ += ']';
    return {};
  }

  Status object(ondemand::value& found, std::size_t depth) {
    if (auto status = check_depth(depth); !status) return status;
    const std::size_t offset = here();
    ondemand::object fields;
    if (found.get_object().get(fields) != simdjson::SUCCESS) return fail(broken());
    const std::size_t first = members_.size();
    out_ += '{';
    for (auto field : fields) {
      std::string_view key;
      if (field.unescaped_key().get(key) != simdjson::SUCCESS) return fail(broken());
      if (members_.size() > first) out_ += ',';
      const std::size_t begin = out_.size();
      append_quoted(out_, key);
      out_ += ':';
      if (auto status = value(field.value(), depth); !status) return status;
      members_.push_back({key, begin, out_.size()});
    }
    if (!put_in_order(first)) return fail(malformed("a key comes twice in one object", offset));
    members_.resize(first);
    out_ += '}';
    return {};
  }

  /// Orders the members from `first` on, in `members_` and in `out_`. False where a key repeats.
  bool put_in_order(std::size_t first) {
    const std::span own = std::span(members_).subspan(first);
    const auto not_rising = [](const Member& left, const Member& right) {
      return !utf16_less(left.key, right.key);
    };
    if (std::ranges::adjacent_find(own, not_rising) == own.end()) return true;
    const std::size_t begin = own.front().begin;
    std::ranges::sort(own, utf16_less, &Member::key);
    if (std::ranges::adjacent_find(own, {}, &Member::key) != own.end()) return false;
    scratch_.clear();
    for (const Member& member : own) {
      if (!scratch_.empty()) scratch_ += ',';
      scratch_.append(out_, member.begin, member.end - member.begin);
    }
    out_.replace(begin, std::string::npos, scratch_);
    return true;
  }

  Status string(ondemand::value& found) {
    std::string_view text;
    if (found.get_string().get(text) != simdjson::SUCCESS) return fail(broken());
    append_quoted(out_, text);
    return {};
  }

  Status number(ondemand::value& found) {
    const std::string_view token = without_white_space(found.raw_json_token());
    const std::size_t offset = parser_.offset_of(token.data());
    const std::optional<double> number = parse_number(token);
    if (!number) return fail(malformed("not a number", offset));
    if (std::isinf(*number))
      return fail(malformed("a number beyond the range of a double", offset));
    if (!exact_in_canonical_form(*number)) {
      return fail(malformed("an integer beyond 2^53-1; write it as a string", offset));
    }
    append_number(out_, *number);
    return {};
  }

  Status literal(ondemand::value& found) {
    const std::string_view token = without_white_space(found.raw_json_token());
    if (token != "true" && token != "false" && token != "null") {
      return fail(malformed("not JSON", parser_.offset_of(token.data())));
    }
    out_ += token;
    return {};
  }

  Parser& parser_;
  std::size_t text_size_;
  ondemand::document* document_ = nullptr;
  std::string out_{};
  std::string scratch_{};
  std::vector<Member> members_{};
};

}  // namespace

Result<std::string> rebuild(std::string_view text) {
  if (auto status = check_strings(text); !status) return fail(std::move(status.error()));
  Parser& parser = thread_parser<ondemand::parser>();
  ondemand::document document;
  if (parser.open("[", text, "]", document) != simdjson::SUCCESS) {
    return fail(malformed("not JSON", text.size()));
  }
  return Rebuilder(parser, text.size()).whole(document);
}

}  // namespace runwire::json
