#pragma once

#include "codec/base/ids.hpp"

#include <cstdint>

namespace runwire::test {

/// The same ids in every run: a counter in the last bytes.
class CountingIds final : public IdSource {
 public:
  EventId event_id(WallMicros /*now*/) override { return make<EventId>(); }
  LogId log_id() override { return make<LogId>(); }
  InstanceId instance_id() override { return make<InstanceId>(); }

 private:
  template <class Id>
  Id make() {
    Id id{};
    id.bytes[6] = std::byte{0x70};
    id.bytes[8] = std::byte{0x80};
    ++count_;
    for (std::size_t at = 0; at < 4; ++at) {
      id.bytes.at(15 - at) = static_cast<std::byte>((count_ >> (8 * at)) & 0xffU);
    }
    return id;
  }
  std::uint64_t count_ = 0;
};

}  // namespace runwire::test
