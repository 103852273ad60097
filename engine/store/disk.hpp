#pragma once

#include "codec/base/bytes.hpp"
#include "codec/base/result.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace runwire {

/// One open file. Owner: whoever opened it; write and sync from one thread, read from any.
/// Errors: `store_full` (ENOSPC, EDQUOT), `store_failed` (anything else), with `file`, `call` and
/// `errno` as facts. Short counts and EINTR are retried inside.
class DiskFile {
 public:
  virtual ~DiskFile() = default;
  virtual Status write(std::uint64_t offset, ByteView bytes) = 0;
  virtual Status sync() = 0;  ///< Data and the size needed to read it (fdatasync).
  virtual Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) const = 0;
  [[nodiscard]] virtual Result<std::uint64_t> size() const = 0;
  virtual Status resize(std::uint64_t bytes) = 0;  ///< Shorter cuts; longer reads as zeros.
  /// Sets room aside up to `bytes` without changing the size, so that a full disk is met here and
  /// not by a later write. A file system that cannot is a success that did nothing.
  virtual Status reserve(std::uint64_t bytes) = 0;
};

/// The few file operations that a store needs, so that a simulated disk can crash, tear, lose, fill
/// and lie at any call. Names are relative to the disk's root and have at most one folder.
class Disk {
 public:
  virtual ~Disk() = default;
  virtual Status make_directory(std::string_view name) = 0;
  virtual Result<std::unique_ptr<DiskFile>> create(std::string_view name) = 0;  ///< Must not exist.
  virtual Result<std::unique_ptr<DiskFile>> open(std::string_view name, bool writable) = 0;
  [[nodiscard]] virtual Result<std::vector<std::string>> list(std::string_view directory) const = 0;
  virtual Status remove(std::string_view name) = 0;
  virtual Status rename(std::string_view from, std::string_view to) = 0;
  virtual Status sync_directory(std::string_view name) = 0;
  /// Held until the object goes; `locked` names the holder's pid where it is known.
  class Lock {
   public:
    virtual ~Lock() = default;
  };
  virtual Result<std::unique_ptr<Lock>> lock(std::string_view name) = 0;
};

/// Files below `root` of the real file system; creates `root` (mode 0700) when missing.
[[nodiscard]] Result<std::unique_ptr<Disk>> open_disk(const std::string& root);

}  // namespace runwire
