#include "codec/base/ids.hpp"

#include "codec/base/check.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <sys/random.h>
#include <unistd.h>

namespace runwire {
namespace {

using Sixteen = std::array<std::byte, 16>;

/// Random bytes in blocks: one system call serves 256 ids. A fork discards the block, so that
/// parent and child never draw the same id.
class RandomBlock {
 public:
  Sixteen draw() {
    if (used_ == block_.size() || owner_ != ::getpid()) refill();
    Sixteen sixteen{};
    std::copy_n(
        block_.begin() + static_cast<std::ptrdiff_t>(used_), sixteen.size(), sixteen.begin());
    used_ += sixteen.size();
    return sixteen;
  }

 private:
  void refill() {
    std::size_t filled = 0;
    while (filled < block_.size()) {
      const ssize_t got = ::getrandom(block_.data() + filled, block_.size() - filled, 0);
      if (got < 0 && errno == EINTR) continue;
      check(got > 0, "getrandom");
      filled += static_cast<std::size_t>(got);
    }
    used_ = 0;
    owner_ = ::getpid();
  }

  std::array<std::byte, 4096> block_{};
  std::size_t used_ = block_.size();
  pid_t owner_ = 0;
};

Sixteen random_sixteen() {
  thread_local RandomBlock block;
  return block.draw();
}

int hex_digit(char character) {
  if (character >= '0' && character <= '9') return character - '0';
  if (character >= 'a' && character <= 'f') return character - 'a' + 10;
  if (character >= 'A' && character <= 'F') return character - 'A' + 10;
  return -1;
}

constexpr std::size_t uuid_text_size = 36;
constexpr bool is_dash_place(std::size_t at) {
  return at == 8 || at == 13 || at == 18 || at == 23;
}

}  // namespace

std::string uuid_text(ByteView sixteen) {
  check(sixteen.size() == 16, "a UUID is 16 bytes");
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(uuid_text_size);
  for (const std::byte byte : sixteen) {
    if (is_dash_place(text.size())) text.push_back('-');
    text.push_back(digits[std::to_integer<std::size_t>(byte >> 4)]);
    text.push_back(digits[std::to_integer<std::size_t>(byte & std::byte{15})]);
  }
  return text;
}

Result<std::array<std::byte, 16>> uuid_from_text(std::string_view text) {
  const auto bad = [&] {
    return fail(ErrorCode::invalid,
                "not a UUID (8-4-4-4-12 hexadecimal digits): " + std::string(text.substr(0, 64)));
  };
  if (text.size() != uuid_text_size) return bad();
  Sixteen bytes{};
  std::size_t nibble = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (is_dash_place(at)) {
      if (text[at] != '-') return bad();
      continue;
    }
    const int digit = hex_digit(text[at]);
    if (digit < 0) return bad();
    bytes.at(nibble / 2) |= static_cast<std::byte>(nibble % 2 == 0 ? digit << 4 : digit);
    ++nibble;
  }
  return bytes;
}

EventId SystemIds::event_id(WallMicros now) {
  // RFC 9562, 5.7: 48 bits of milliseconds, version 7, 12 random bits, variant 10, 62 random bits.
  EventId id{random_sixteen()};
  const std::uint64_t millis = now / 1000;
  for (std::size_t at = 0; at < 6; ++at) {
    id.bytes.at(at) = static_cast<std::byte>((millis >> (8 * (5 - at))) & 0xffU);
  }
  id.bytes[6] = (id.bytes[6] & std::byte{0x0f}) | std::byte{0x70};
  id.bytes[8] = (id.bytes[8] & std::byte{0x3f}) | std::byte{0x80};
  return id;
}

LogId SystemIds::log_id() {
  return {random_sixteen()};
}
InstanceId SystemIds::instance_id() {
  return {random_sixteen()};
}

}  // namespace runwire
