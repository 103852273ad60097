#pragma once

#include "engine/store/disk.hpp"
#include "engine/store/open.hpp"
#include "engine/store/sim_disk.hpp"
#include "tests/support/counting_ids.hpp"
#include "tests/support/manual_clock.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

namespace runwire::test {

/// A directory of its own, gone with the object.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "runwire-store-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_{};
};

/// Opens one kind of store again and again at the same place.
class StoreBench {
 public:
  enum class Kind { memory, simulated, files };

  explicit StoreBench(Kind kind, std::uint64_t segment_bytes_max = 4096)
      : kind_(kind), segment_bytes_max_(segment_bytes_max) {}

  Result<std::unique_ptr<Store>> try_open() {
    if (kind_ == Kind::memory) return make_memory_store({}, ids);
    const SegmentsOptions options{.directory = (directory.path() / "log").string(),
                                  .segment_bytes_max = segment_bytes_max_};
    if (kind_ == Kind::simulated) return open_segments_on(disk, options, ids, clock);
    return open_segments(options, ids, clock);
  }

  std::unique_ptr<Store> open() {
    auto store = try_open();
    if (!store) FAIL(describe(store.error()));
    return std::move(*store);
  }

  [[nodiscard]] std::filesystem::path file(const std::string& name) const {
    return directory.path() / "log" / name;
  }

  CountingIds ids{};
  ManualClock clock{};
  SimDisk disk{1};
  TemporaryDirectory directory{};

 private:
  Kind kind_;
  std::uint64_t segment_bytes_max_;
};

}  // namespace runwire::test
