#include "bridge/cli/line_reader.hpp"

#include "bridge/cli/interrupt.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <unistd.h>

namespace runwire::cli {
namespace {

constexpr std::size_t read_bytes = std::size_t{64} << 10;

bool readable(int file, std::chrono::milliseconds timeout) {
  pollfd item{.fd = file, .events = POLLIN, .revents = 0};
  return ::poll(&item, 1, static_cast<int>(timeout.count())) > 0;
}

}  // namespace

Result<std::optional<std::string>> LineReader::next() {
  while (true) {
    const std::size_t found = buffer_.find('\n', scanned_);
    if (found != std::string::npos) return take(found - begin_);
    scanned_ = buffer_.size();
    if (scanned_ - begin_ > line_bytes_max) {
      return fail(Error{ErrorCode::too_large, "a line is too long to be an event", {}}
                      .with("line", number_ + 1)
                      .with("limit", line_bytes_max));
    }
    if (end_ && scanned_ > begin_) return take(scanned_ - begin_);
    if (end_) return std::nullopt;
    while (!readable(file_, look_every)) {
      if (interrupted()) return std::nullopt;
    }
    if (auto filled = fill(); !filled) return fail(std::move(filled.error()));
  }
}

bool LineReader::ready() const {
  const bool whole = buffer_.find('\n', begin_) != std::string::npos;
  return whole || (!end_ && readable(file_, std::chrono::milliseconds{0}));
}

std::optional<std::string> LineReader::take(std::size_t length) {
  std::string line = buffer_.substr(begin_, length);
  begin_ = std::min(begin_ + length + 1, buffer_.size());
  scanned_ = begin_;
  ++number_;
  return line;
}

Status LineReader::fill() {
  buffer_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  const std::size_t size = buffer_.size();
  buffer_.resize(size + read_bytes);
  const ssize_t got = ::read(file_, buffer_.data() + size, read_bytes);
  buffer_.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0 && errno != EINTR)
    return fail(ErrorCode::internal, std::string("read: ") + std::strerror(errno));
  end_ = got == 0;
  return {};
}

}  // namespace runwire::cli
