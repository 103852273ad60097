#include "engine/store/segments/batch_builder.hpp"

#include "codec/base/check.hpp"
#include "engine/store/segments/little_endian.hpp"

#include <array>
#include <limits>

namespace runwire::segments {

void BatchBuilder::clear() {
  // A batch of many megabytes is rare; its buffer is not kept for all the small ones after it.
  constexpr std::size_t kept_bytes_max = std::size_t{16} << 20;
  if (bytes_.capacity() > kept_bytes_max) bytes_ = Bytes();
  bytes_.assign(batch_header_bytes, std::byte{0});
  places_.clear();
  records_ = 0;
}

void BatchBuilder::add(const Record& record, Position before) {
  check(record.subject.size() <= std::numeric_limits<std::uint8_t>::max(),
        "a record's subject fits");
  const std::size_t start = bytes_.size();
  append_record(record, before, bytes_);
  const std::size_t length = record_header_bytes + record.subject.size() + record.bytes.size();
  places_.push_back({static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(length)});
  ++records_;
}

void BatchBuilder::add_body(std::uint32_t records, ByteView body) {
  append_bytes(bytes_, body);
  records_ += records;
}

ByteView BatchBuilder::finish(BatchHeader header, std::uint64_t key) {
  check(bytes_.size() <= std::numeric_limits<std::uint32_t>::max(), "a batch fits its header");
  header.records = records_;
  header.body_bytes = static_cast<std::uint32_t>(bytes_.size() - batch_header_bytes);
  header.body_check = checksum(body()) ^ key;
  encode(header, key, bytes_.data());
  return bytes_;
}

std::uint64_t chain_start(ByteView segment_header) {
  return load_number<std::uint64_t>(segment_header.data() + segment_header_bytes - 8);
}

std::uint64_t chain_next(std::uint64_t chain, ByteView batch_header) {
  std::array<std::byte, 16> link{};
  store_number(link.data(), chain);
  store_number(link.data() + 8,
               load_number<std::uint64_t>(batch_header.data() + batch_header_bytes - 8));
  return checksum(link);
}

}  // namespace runwire::segments
