#include "codec/wire/tape.hpp"

#include "codec/json/canonical.hpp"

#include <msgpack.hpp>

#include <algorithm>
#include <array>

namespace runwire::wire {

/// Writes tokens as msgpack's parser meets values; `false` stops the parser at once.
class TapeVisitor : public msgpack::null_visitor {
 public:
  explicit TapeVisitor(std::vector<Token>& tokens) : tokens_(tokens) {}

  bool visit_nil() { return put({.kind = Token::Kind::nil}); }
  bool visit_boolean(bool value) {
    return put({.kind = Token::Kind::boolean, .number = value ? 1U : 0U});
  }
  bool visit_positive_integer(std::uint64_t value) {
    return put({.kind = Token::Kind::number, .number = value});
  }
  bool visit_negative_integer(std::int64_t) { return put({.kind = Token::Kind::negative}); }
  bool visit_float32(float) { return put({.kind = Token::Kind::floating}); }
  bool visit_float64(double) { return put({.kind = Token::Kind::floating}); }
  bool visit_str(const char* data, std::uint32_t size) {
    if (!json::valid_utf8({data, size})) return stop(ErrorCode::invalid, "text that is not UTF-8");
    return put({.kind = Token::Kind::text, .size = size, .data = data});
  }
  bool visit_bin(const char* data, std::uint32_t size) {
    return put({.kind = Token::Kind::binary, .size = size, .data = data});
  }
  bool visit_ext(const char*, std::uint32_t) {
    return stop(ErrorCode::invalid, "an extension type");
  }
  bool start_array(std::uint32_t size) { return open({.kind = Token::Kind::list, .size = size}); }
  bool end_array() { return close(); }
  bool start_map(std::uint32_t size) { return open({.kind = Token::Kind::map, .size = size}); }
  bool end_map() { return close(); }
  bool start_map_key() {
    in_key_ = true;
    return true;
  }
  bool end_map_key() {
    in_key_ = false;
    return true;
  }
  void parse_error(std::size_t, std::size_t) {
    stop(ErrorCode::invalid, "a byte that starts no value");
  }
  void insufficient_bytes(std::size_t, std::size_t) { stop(ErrorCode::invalid, "truncated"); }

  [[nodiscard]] const Error& error() const { return error_; }
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  bool put(Token token) {
    if (in_key_ && token.kind != Token::Kind::text) {
      return stop(ErrorCode::invalid, "a map key that is no text");
    }
    if (tokens_.size() >= limits::tokens_max)
      return stop(ErrorCode::too_large, "over 65536 values");
    token.end = static_cast<std::uint32_t>(tokens_.size() + 1);
    tokens_.push_back(token);
    return true;
  }
  bool open(Token token) {
    if (depth_ >= limits::depth_max)
      return stop(ErrorCode::too_large, "nested too deep, over 64 levels");
    const std::size_t index = tokens_.size();
    if (!put(token)) return false;
    open_.at(depth_) = index;
    ++depth_;
    return true;
  }
  bool close() {
    --depth_;
    tokens_[open_.at(depth_)].end = static_cast<std::uint32_t>(tokens_.size());
    return true;
  }
  bool stop(ErrorCode code, const char* why) {
    if (!stopped_) error_ = Error{code, std::string("header: ") + why, {}};
    stopped_ = true;
    return false;
  }

  std::vector<Token>& tokens_;
  std::array<std::size_t, limits::depth_max> open_{};
  std::size_t depth_ = 0;
  bool in_key_ = false;
  bool stopped_ = false;
  Error error_{};
};

Status Tape::read(ByteView frame) {
  tokens_.clear();
  if (frame.size() > limits::message_bytes_max) {
    return fail(ErrorCode::too_large, "message: over 8 MiB");
  }
  TapeVisitor visitor(tokens_);
  const std::string_view text = as_text(frame);
  std::size_t offset = 0;
  bool complete = false;
  try {
    complete = msgpack::parse(text.data(), text.size(), offset, visitor);
  } catch (const std::exception& failure) {
    return fail(ErrorCode::invalid, std::string("header: ") + failure.what());
  }
  if (visitor.stopped()) return fail(visitor.error());
  if (!complete || tokens_.empty()) return fail(ErrorCode::invalid, "header: truncated");
  if (offset != frame.size()) return fail(ErrorCode::invalid, "header: bytes behind its one value");
  if (tokens_.front().kind != Token::Kind::map) return fail(ErrorCode::invalid, "header: no map");
  return check_keys();
}

Status Tape::check_keys() {
  for (std::size_t index = 0; index < tokens_.size(); ++index) {
    if (tokens_[index].kind == Token::Kind::map && keys_repeat(index)) {
      return fail(ErrorCode::invalid, "header: a key comes twice in one map");
    }
  }
  return {};
}

bool Tape::keys_repeat(std::size_t map) {
  keys_.clear();
  for (std::size_t at = map + 1; at < tokens_[map].end; at = tokens_[at + 1].end) {
    keys_.push_back(text(at));
  }
  std::ranges::sort(keys_);
  return std::ranges::adjacent_find(keys_) != keys_.end();
}

Tape& thread_tape() {
  thread_local Tape tape;
  return tape;
}

}  // namespace runwire::wire
