#include "engine/store/disk.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace runwire {
namespace {

/// A failed system call as an Error. `errno` is read first, before anything can change it.
std::unexpected<Error> call_failed(std::string_view call, std::string_view file) {
  const int number = errno;
  const bool full = number == ENOSPC || number == EDQUOT;
  const std::string reason = std::generic_category().message(number);
  const std::string head = full ? "no room on the disk: " : "the disk failed: ";
  return fail(Error{full ? ErrorCode::store_full : ErrorCode::store_failed,
                    head + std::string(call) + " of " + std::string(file) + ": " + reason,
                    {}}
                  .with("file", file)
                  .with("call", call)
                  .with("errno", static_cast<std::uint64_t>(number)));
}

/// Closes on the way out; the one place that owns a descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

int open_retrying(const std::string& path, int flags) {
  int number = -1;
  do {
    number = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  } while (number < 0 && errno == EINTR);
  return number;
}

class RealFile final : public DiskFile {
 public:
  RealFile(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  Status write(std::uint64_t offset, ByteView bytes) override {
    while (!bytes.empty()) {
      const ssize_t wrote =
          ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) return call_failed("pwrite", path_);
      offset += static_cast<std::uint64_t>(wrote);
      bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    }
    return {};
  }

  // Never retried, not even after EINTR: what reached the disk is unknown.
  Status sync() override {
    if (::fdatasync(file_.get()) != 0) return call_failed("fdatasync", path_);
    return {};
  }

  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) const override {
    std::size_t done = 0;
    while (done < into.size()) {
      const ssize_t got = ::pread(
          file_.get(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return call_failed("pread", path_);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  [[nodiscard]] Result<std::uint64_t> size() const override {
    struct stat facts{};
    if (::fstat(file_.get(), &facts) != 0) return call_failed("fstat", path_);
    return static_cast<std::uint64_t>(facts.st_size);
  }

  Status resize(std::uint64_t bytes) override {
    while (::ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) {
      if (errno != EINTR) return call_failed("ftruncate", path_);
    }
    return {};
  }

  Status reserve(std::uint64_t bytes) override {
    while (::fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) != 0) {
      if (errno == EINTR) continue;
      if (errno == EOPNOTSUPP || errno == ENOSYS) return {};
      return call_failed("fallocate", path_);
    }
    return {};
  }

 private:
  Descriptor file_;
  std::string path_;
};

class RealLock final : public Disk::Lock {
 public:
  explicit RealLock(Descriptor file) : file_(std::move(file)) {}

 private:
  Descriptor file_;
};

class RealDisk final : public Disk {
 public:
  explicit RealDisk(std::string root) : root_(std::move(root)) {}

  Status make_directory(std::string_view name) override {
    if (::mkdir(path(name).c_str(), 0700) != 0 && errno != EEXIST) {
      return call_failed("mkdir", path(name));
    }
    return {};
  }

  Result<std::unique_ptr<DiskFile>> create(std::string_view name) override {
    return opened(name, O_RDWR | O_CREAT | O_EXCL);
  }

  Result<std::unique_ptr<DiskFile>> open(std::string_view name, bool writable) override {
    return opened(name, writable ? O_RDWR : O_RDONLY);
  }

  [[nodiscard]] Result<std::vector<std::string>> list(std::string_view directory) const override {
    std::vector<std::string> names;
    std::error_code error;
    std::filesystem::directory_iterator at(path(directory), error);
    for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
      names.push_back(at->path().filename().string());
    }
    if (error) {
      errno = error.value();
      return call_failed("readdir", path(directory));
    }
    std::ranges::sort(names);
    return names;
  }

  Status remove(std::string_view name) override {
    if (::unlink(path(name).c_str()) != 0) return call_failed("unlink", path(name));
    return {};
  }

  Status rename(std::string_view from, std::string_view to) override {
    if (::rename(path(from).c_str(), path(to).c_str()) != 0) return call_failed("rename", path(to));
    return {};
  }

  Status sync_directory(std::string_view name) override {
    const Descriptor folder(open_retrying(path(name), O_RDONLY | O_DIRECTORY));
    if (folder.get() < 0) return call_failed("open", path(name));
    if (::fsync(folder.get()) != 0) return call_failed("fsync", path(name));
    return {};
  }

  Result<std::unique_ptr<Lock>> lock(std::string_view name) override {
    Descriptor file(open_retrying(path(name), O_RDWR | O_CREAT));
    if (file.get() < 0) return call_failed("open", path(name));
    // A lock of the open file: it dies with the process, and no other close() here drops it.
    struct flock whole{};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (::fcntl(file.get(), F_OFD_SETLK, &whole) != 0) {
      if (errno == EAGAIN || errno == EACCES) return held_by_other(file, path(name));
      return call_failed("fcntl", path(name));
    }
    // For people only; ownership is the lock. A full disk must not keep the store shut.
    const std::string pid = std::to_string(::getpid()) + "\n";
    if (::ftruncate(file.get(), 0) == 0) {
      [[maybe_unused]] const ssize_t wrote = ::pwrite(file.get(), pid.data(), pid.size(), 0);
    }
    return std::make_unique<RealLock>(std::move(file));
  }

 private:
  [[nodiscard]] std::string path(std::string_view name) const {
    return name.empty() ? root_ : root_ + "/" + std::string(name);
  }

  Result<std::unique_ptr<DiskFile>> opened(std::string_view name, int flags) const {
    Descriptor file(open_retrying(path(name), flags));
    if (file.get() >= 0) return std::make_unique<RealFile>(std::move(file), path(name));
    if (errno != ENOENT) return call_failed("open", path(name));
    return fail(
        Error{ErrorCode::not_found, "no such file: " + path(name), {}}.with("file", path(name)));
  }

  static std::unexpected<Error> held_by_other(const Descriptor& file, const std::string& path) {
    std::array<char, 24> text{};
    const ssize_t got = ::pread(file.get(), text.data(), text.size(), 0);
    std::uint64_t pid = 0;
    if (got > 0) std::from_chars(text.data(), text.data() + got, pid);
    Error error{ErrorCode::locked, "another process writes here: " + path, {}};
    error = std::move(error).with("file", path);
    if (pid != 0) {
      error.message += ": pid " + std::to_string(pid);
      error = std::move(error).with("pid", pid);
    }
    return fail(std::move(error));
  }

  std::string root_;
};

}  // namespace

Result<std::unique_ptr<Disk>> open_disk(const std::string& root) {
  std::error_code error;
  const std::filesystem::path above = std::filesystem::path(root).parent_path();
  if (!above.empty()) std::filesystem::create_directories(above, error);
  const bool made = ::mkdir(root.c_str(), 0700) == 0;
  if (!made && errno != EEXIST) return call_failed("mkdir", root);
  if (made) {
    // The name of a new log has to last as long as what is in it.
    const Descriptor folder(
        open_retrying(above.empty() ? "." : above.string(), O_RDONLY | O_DIRECTORY));
    if (folder.get() < 0 || ::fsync(folder.get()) != 0) return call_failed("fsync", root);
  }
  if (!std::filesystem::is_directory(root, error)) {
    return fail(Error{ErrorCode::invalid, "not a directory: " + root, {}}.with("file", root));
  }
  return std::make_unique<RealDisk>(root);
}

}  // namespace runwire
