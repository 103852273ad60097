#include "codec/base/check.hpp"
#include "codec/base/limits.hpp"
#include "codec/event/types.hpp"
#include "codec/wire/event_codec.hpp"
#include "codec/wire/event_keys.hpp"
#include "codec/wire/event_rules.hpp"
#include "codec/wire/unknown_fields.hpp"

#include <msgpack.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace runwire::wire {
namespace {

/// Everything of an event but its data and unknown fields, in one piece on the stack: the packer
/// writes many small pieces, and each would cost a look at the vector's end.
class Head {
 public:
  void write(const char* bytes, std::size_t size) {
    check(size <= room_.size() - size_, "the bounds of an event's head");
    std::memcpy(room_.data() + size_, bytes, size);
    size_ += size;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] ByteView bytes() const { return as_bytes({room_.data(), size_}); }

 private:
  static constexpr std::size_t location_bytes_max =
      limits::location_entries_max *
      (location_key_bytes_max + limits::location_value_bytes_max + 8);
  static constexpr std::size_t bytes_max =
      location_bytes_max + limits::type_bytes_max + limits::subject_bytes_max + 256;
  std::array<char, bytes_max> room_;  // Not cleared: only what was written is read.
  std::size_t size_ = 0;
};

using Packer = msgpack::packer<Head>;

void pack_text(Packer& packer, std::string_view text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  packer.pack_str(size);
  packer.pack_str_body(text.data(), size);
}

/// The entries of a location in the order of their keys.
class SortedLocation {
 public:
  Status sort(const Location& location) {
    if (location.size() > order_.size()) {
      return fail(large_field("location", order_.size(), location.size()));
    }
    for (const auto& entry : location)
      order_.at(size_++) = &entry;
    const auto key = [](const Entry* entry) -> std::string_view { return entry->first; };
    std::ranges::sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(size_), {}, key);
    std::string_view previous;
    for (const Entry* entry : entries()) {
      if (auto status = check_location_key(previous, entry->first); !status) return status;
      if (auto status = check_location_value(entry->second); !status) return status;
      previous = entry->first;
    }
    return {};
  }

  [[nodiscard]] bool empty() const { return size_ == 0; }
  void pack(Packer& packer) const {
    packer.pack_map(static_cast<std::uint32_t>(size_));
    for (const Entry* entry : entries()) {
      pack_text(packer, entry->first);
      pack_text(packer, entry->second);
    }
  }

 private:
  using Entry = Location::value_type;
  [[nodiscard]] std::span<const Entry* const> entries() const {
    return std::span(order_).first(size_);
  }
  std::array<const Entry*, limits::location_entries_max> order_{};
  std::size_t size_ = 0;
};

Status check_event(const Event& event) {
  if (auto status = check_type(event.type); !status) return status;
  if (auto status = check_number("time", event.time); !status) return status;
  if (!event.subject.empty()) {
    if (auto status = check_subject(event.subject); !status) return status;
  }
  if (event.durable) {
    if (event.subject.empty()) return fail(bad_field("subject", "a durable event needs one"));
    if (auto status = check_version(event.durable->version); !status) return status;
    if (auto status = check_number("durable.seq", event.durable->seq.value); !status) return status;
  }
  return check_data(event.data);
}

/// Writes the head and says where its two numbers are.
Stamps pack_head(const Event& event,
                 const SortedLocation& location,
                 std::size_t unknown_fields,
                 Head& head) {
  Packer packer(head);
  Stamps stamps;
  const std::size_t optional_fields = std::size_t{!location.empty()} +
                                      std::size_t{!event.subject.empty()} +
                                      std::size_t{event.durable.has_value()};
  packer.pack_map(static_cast<std::uint32_t>(4 + optional_fields + unknown_fields));
  pack_text(packer, key_of(EventField::id));
  packer.pack_bin(static_cast<std::uint32_t>(event.id.bytes.size()));
  packer.pack_bin_body(as_text(event.id.view()).data(),
                       static_cast<std::uint32_t>(event.id.bytes.size()));
  pack_text(packer, key_of(EventField::type));
  pack_text(packer, event.type);
  pack_text(packer, key_of(EventField::time));
  stamps.time_at = head.size() + 1;
  packer.pack_fix_uint64(event.time);
  if (!location.empty()) {
    pack_text(packer, key_of(EventField::location));
    location.pack(packer);
  }
  if (!event.subject.empty()) {
    pack_text(packer, key_of(EventField::subject));
    pack_text(packer, event.subject);
  }
  if (event.durable) {
    pack_text(packer, key_of(EventField::durable));
    packer.pack_map(2);
    pack_text(packer, version_key);
    packer.pack_uint32(event.durable->version);
    pack_text(packer, seq_key);
    stamps.seq_at = head.size() + 1;
    packer.pack_fix_uint64(event.durable->seq.value);
  }
  pack_text(packer, key_of(EventField::data));
  packer.pack_str(static_cast<std::uint32_t>(event.data.size()));
  return stamps;
}

void put_big_endian(std::span<std::byte> encoded, std::size_t at, std::uint64_t value) {
  check(at + sizeof value <= encoded.size(), "a stamp lies inside its event");
  for (std::size_t byte = 0; byte < sizeof value; ++byte) {
    encoded[at + byte] = static_cast<std::byte>((value >> (56 - 8 * byte)) & 0xffU);
  }
}

}  // namespace

Result<Stamps> encode_event(const Event& event, Bytes& out) {
  if (auto status = check_event(event); !status) return fail(std::move(status.error()));
  SortedLocation location;
  if (auto status = location.sort(event.location); !status) return fail(std::move(status.error()));
  auto unknown_fields = count_unknown_fields(event.unknown);
  if (!unknown_fields) return fail(std::move(unknown_fields.error()));

  Head head;
  const Stamps stamps = pack_head(event, location, *unknown_fields, head);
  const ByteView data = as_bytes(event.data);
  out.insert(out.end(), head.bytes().begin(), head.bytes().end());
  out.insert(out.end(), data.begin(), data.end());
  out.insert(out.end(), event.unknown.begin(), event.unknown.end());
  return stamps;
}

void stamp(std::span<std::byte> encoded, const Stamps& stamps, WallMicros time, Sequence seq) {
  check(time <= exact_integer_max && seq.value <= exact_integer_max, "a stamp is below 2^53");
  put_big_endian(encoded, stamps.time_at, time);
  if (stamps.seq_at != 0) put_big_endian(encoded, stamps.seq_at, seq.value);
}

}  // namespace runwire::wire
