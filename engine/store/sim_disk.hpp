#pragma once

#include "engine/store/disk.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace runwire {

/// A disk in memory that fails as real ones do, the same way for the same seed.
///
/// Threads: any; one lock inside. Lifetime: outlives its files and locks. Bound: the memory that
/// its files need. Model: a write is in the page cache until its file is synced; a crash keeps,
/// loses or tears (at 512 bytes) each unsynced write by itself. Names (create, rename, remove) are
/// a journal: a crash keeps a prefix of what was not synced with the folder. After a failed sync
/// the pages read as if written, no later sync writes them, and a crash may lose them.
class SimDisk final : public Disk {
 public:
  explicit SimDisk(std::uint64_t seed);
  ~SimDisk() override;

  enum class Fault : std::uint8_t {
    io,     ///< EIO; a write may have taken part of its bytes.
    full,   ///< ENOSPC, where the call can meet one, else EIO.
    power,  ///< Everything stops: this call and all later ones fail, until crash().
  };
  /// The `call`-th call from now (1 is the next) meets `fault`. One fault is armed at a time.
  void fail_call(std::uint64_t call, Fault fault);
  /// The next sync of a file fails, and what it covered is in doubt for ever.
  void fail_next_sync();
  /// No file grows beyond what is there plus `bytes`; none: no limit.
  void set_room(std::optional<std::uint64_t> bytes);

  /// Power loss, then power: what was not synced is kept, lost or torn as the seed says. Files and
  /// locks that are still open are dead.
  void crash(std::uint64_t seed);
  /// A copy of the present state, faults and open files left out.
  [[nodiscard]] std::unique_ptr<SimDisk> clone() const;
  /// Of everything a reader can see: names and bytes. Equal images, equal number.
  [[nodiscard]] std::uint64_t image_hash() const;

  [[nodiscard]] std::uint64_t calls() const;  ///< Made so far, failed ones too.
  [[nodiscard]] bool fault_met() const;       ///< Since the last fail_call().

  // For tests that damage a file by hand: reads and changes what is there, as if always synced.
  [[nodiscard]] std::optional<Bytes> contents(std::string_view name) const;
  void set_contents(std::string_view name, Bytes bytes);

  Status make_directory(std::string_view name) override;
  Result<std::unique_ptr<DiskFile>> create(std::string_view name) override;
  Result<std::unique_ptr<DiskFile>> open(std::string_view name, bool writable) override;
  [[nodiscard]] Result<std::vector<std::string>> list(std::string_view directory) const override;
  Status remove(std::string_view name) override;
  Status rename(std::string_view from, std::string_view to) override;
  Status sync_directory(std::string_view name) override;
  Result<std::unique_ptr<Lock>> lock(std::string_view name) override;

 private:
  struct State;
  class File;
  class SimLock;
  explicit SimDisk(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;  ///< Shared with open files, which may outlive a crash.
};

}  // namespace runwire
