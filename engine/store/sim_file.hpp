#pragma once

#include "engine/store/sim_state.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace runwire {

/// One open file of a SimDisk; dead after a crash.
class SimDisk::File final : public DiskFile {
 public:
  File(std::shared_ptr<State> state, std::shared_ptr<sim::Node> node, std::string name)
      : state_(std::move(state)),
        node_(std::move(node)),
        name_(std::move(name)),
        life_(state_->life) {}

  Status write(std::uint64_t offset, ByteView bytes) override {
    const std::scoped_lock lock(state_->mutex);
    if (life_ != state_->life) return sim::failed(ErrorCode::store_failed, "pwrite", name_);
    const auto fault = state_->next_call();
    if (!fault && room_for(offset + bytes.size())) {
      take(offset, bytes);
      return {};
    }
    // A write that fails may have taken any part of its bytes from the front.
    take(offset, bytes.first(state_->random() % (bytes.size() + 1)));
    const bool full = !fault || *fault == Fault::full;
    return sim::failed(full ? ErrorCode::store_full : ErrorCode::store_failed, "pwrite", name_);
  }

  Status sync() override {
    const std::scoped_lock lock(state_->mutex);
    if (life_ != state_->life) return sim::failed(ErrorCode::store_failed, "fdatasync", name_);
    const auto fault = state_->next_call();
    if (fault || std::exchange(state_->fail_sync, false)) {
      sim::doubt_all(*node_);
      return sim::failed(ErrorCode::store_failed, "fdatasync", name_);
    }
    sim::settle_all(*node_);
    return {};
  }

  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) const override {
    const std::scoped_lock lock(state_->mutex);
    if (life_ != state_->life || state_->next_call()) {
      return sim::failed(ErrorCode::store_failed, "pread", name_);
    }
    const Bytes& bytes = node_->now;
    if (offset >= bytes.size()) return std::size_t{0};
    const std::size_t count = std::min<std::size_t>(into.size(), bytes.size() - offset);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), count, into.begin());
    return count;
  }

  [[nodiscard]] Result<std::uint64_t> size() const override {
    const std::scoped_lock lock(state_->mutex);
    if (life_ != state_->life || state_->next_call()) {
      return sim::failed(ErrorCode::store_failed, "fstat", name_);
    }
    return node_->now.size();
  }

  Status resize(std::uint64_t bytes) override {
    const std::scoped_lock lock(state_->mutex);
    if (life_ != state_->life) return sim::failed(ErrorCode::store_failed, "ftruncate", name_);
    if (auto status = state_->plain_call("ftruncate", name_, true); !status) return status;
    node_->now.resize(bytes);
    node_->unsynced.push_back({.size = bytes});
    return {};
  }

  Status reserve(std::uint64_t bytes) override {
    const std::scoped_lock lock(state_->mutex);
    if (life_ != state_->life) return sim::failed(ErrorCode::store_failed, "fallocate", name_);
    if (auto status = state_->plain_call("fallocate", name_, true); !status) return status;
    if (!room_for(bytes)) return sim::failed(ErrorCode::store_full, "fallocate", name_);
    return {};
  }

 private:
  [[nodiscard]] bool room_for(std::uint64_t size) {
    if (!state_->room || size <= node_->now.size()) return true;
    return size - node_->now.size() <= *state_->room;
  }

  void take(std::uint64_t offset, ByteView bytes) {
    if (bytes.empty()) return;
    if (state_->room && offset + bytes.size() > node_->now.size()) {
      const std::uint64_t growth = offset + bytes.size() - node_->now.size();
      const std::uint64_t room = std::min(growth, *state_->room);
      state_->room = *state_->room - room;
      if (room < growth) bytes = bytes.first(bytes.size() - std::min(growth - room, bytes.size()));
      if (bytes.empty()) return;
    }
    sim::put(node_->now, offset, bytes);
    node_->unsynced.push_back({.offset = offset, .bytes = Bytes(bytes.begin(), bytes.end())});
  }

  std::shared_ptr<State> state_;
  std::shared_ptr<sim::Node> node_;
  std::string name_;
  std::uint64_t life_;
};

}  // namespace runwire
