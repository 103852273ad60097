#include "bridge/cli/journal_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace runwire::cli {
namespace {

std::unexpected<Error> failed(std::string_view call) {
  return fail(ErrorCode::internal, std::string(call) + ": " + std::strerror(errno));
}

/// A new file's name is on the disk only when its directory is.
Status sync_directory_of(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  const int directory =
      ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return failed("open the directory of " + path);
  const bool synced = ::fsync(directory) == 0;
  ::close(directory);
  return synced ? Status{} : failed("sync the directory of " + path);
}

}  // namespace

Result<JournalFile> JournalFile::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return failed("open " + path);
  JournalFile journal(file);
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    return fail(
        Error{ErrorCode::locked, "another process writes this journal", {}}.with("path", path));
  }
  if (auto synced = sync_directory_of(path); !synced) return fail(std::move(synced.error()));
  if (auto found = journal.find_end(); !found)
    return fail(std::move(found.error()).with("path", path));
  return journal;
}

JournalFile::JournalFile(JournalFile&& other) noexcept
    : file_(std::exchange(other.file_, -1)), log_(other.log_), position_(other.position_) {}

JournalFile::~JournalFile() {
  if (file_ >= 0) ::close(file_);
}

Status JournalFile::find_end() {
  struct stat info{};
  if (::fstat(file_, &info) != 0) return failed("stat");
  const auto size = static_cast<std::size_t>(info.st_size);
  const std::size_t from = size > line_bytes_max * 2 ? size - line_bytes_max * 2 : 0;
  std::string text(size - from, '\0');
  if (::pread(file_, text.data(), text.size(), static_cast<off_t>(from)) !=
      static_cast<ssize_t>(text.size())) {
    return failed("read");
  }
  const std::size_t end = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  if (end == 0 && from > 0)
    return fail(ErrorCode::invalid, "the file's last line is too long to be a journal's");
  if (::ftruncate(file_, static_cast<off_t>(from + end)) != 0) return failed("truncate");
  if (::lseek(file_, 0, SEEK_END) < 0) return failed("seek");
  if (end == 0) return {};
  const std::size_t before = text.rfind('\n', end - 2);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  const auto line = nlohmann::json::parse(text.substr(begin, end - begin), nullptr, false);
  if (!line.is_object() || !line.contains("position") || !line["position"].is_number_unsigned() ||
      !line.contains("log") || !line["log"].is_string()) {
    return fail(ErrorCode::invalid,
                "the file's last line has no log and position; give an empty or a new file");
  }
  auto log = uuid_from_text(line["log"].get<std::string>());
  if (!log) return fail(std::move(log.error()));
  log_.bytes = *log;
  position_ = {line["position"].get<std::uint64_t>()};
  return {};
}

Status JournalFile::append(std::string_view lines) {
  while (!lines.empty()) {
    const ssize_t written = ::write(file_, lines.data(), lines.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return failed("write");
    lines.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fdatasync(file_) != 0) return failed("sync");
  return {};
}

}  // namespace runwire::cli
