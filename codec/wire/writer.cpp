#include "codec/wire/writer.hpp"

#include "codec/base/check.hpp"
#include "codec/json/canonical.hpp"

#include <msgpack.hpp>

#include <algorithm>
#include <array>

namespace runwire::wire {
namespace {

/// What msgpack's packer writes to.
struct Sink {
  Bytes& out;
  void write(const char* data, std::size_t size) {
    const ByteView bytes = as_bytes({data, size});
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
};

template <class Act>
void pack(Bytes& out, Act&& act) {
  Sink sink{out};
  msgpack::packer<Sink> packer(sink);
  act(packer);
}

constexpr std::size_t short_map_pairs_max = 15;
constexpr std::byte short_map{0x80};
constexpr std::byte map16{0xde};

}  // namespace

void Writer::number(std::uint64_t value) {
  pack(out_, [value](auto& packer) { packer.pack_uint64(value); });
}

void Writer::boolean(bool value) {
  pack(out_, [value](auto& packer) { value ? packer.pack_true() : packer.pack_false(); });
}

void Writer::text(std::string_view value) {
  pack(out_, [value](auto& packer) {
    packer.pack_str(static_cast<std::uint32_t>(value.size()));
    packer.pack_str_body(value.data(), static_cast<std::uint32_t>(value.size()));
  });
}

void Writer::binary(ByteView value) {
  pack(out_, [value](auto& packer) {
    packer.pack_bin(static_cast<std::uint32_t>(value.size()));
    packer.pack_bin_body(as_text(value).data(), static_cast<std::uint32_t>(value.size()));
  });
}

void Writer::list(std::size_t items) {
  pack(out_, [items](auto& packer) { packer.pack_array(static_cast<std::uint32_t>(items)); });
}

void Writer::fact(const FactValue& value, std::size_t text_bytes_max) {
  if (const auto* numeric = std::get_if<std::uint64_t>(&value)) return number(*numeric);
  text(sentence(std::get<std::string>(value), text_bytes_max));
}

Writer::Map::Map(Writer& writer) : writer_(writer), start_(writer.out_.size()) {
  writer_.out_.push_back(short_map);
}

Writer::Map::~Map() {
  if (pairs_ <= short_map_pairs_max) {
    writer_.out_[start_] = short_map | static_cast<std::byte>(pairs_);
    return;
  }
  check(pairs_ <= 0xffff, "a map of more than 65535 pairs");
  const std::array<std::byte, 2> size{static_cast<std::byte>(pairs_ >> 8),
                                      static_cast<std::byte>(pairs_ & 0xffU)};
  writer_.out_[start_] = map16;
  writer_.out_.insert(
      writer_.out_.begin() + static_cast<std::ptrdiff_t>(start_ + 1), size.begin(), size.end());
}

Writer& Writer::Map::key(std::string_view name) {
  ++pairs_;
  writer_.text(name);
  return writer_;
}

std::string sentence(std::string_view text, std::size_t bytes_max) {
  std::string kept(text);
  if (!json::valid_utf8(kept)) {
    std::ranges::replace_if(
        kept, [](char byte) { return static_cast<unsigned char>(byte) > 127; }, '?');
  }
  if (kept.size() <= bytes_max) return kept;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(kept[end]) & 0xc0U) == 0x80U)
    --end;
  kept.resize(end);
  return kept;
}

}  // namespace runwire::wire
