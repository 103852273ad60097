#pragma once

#include "bus/client/batch.hpp"
#include "codec/wire/messages.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace runwire::client {

/// Reads pages from a cursor to the end with several reads outstanding, and gives them in order.
/// Knows neither sockets nor time: it says which read to send, and is told what came.
///
/// The places of pages ahead are guessed from the size of the last one; a page that its byte bound
/// cut short leaves a hole, which is read before what is behind it is given.
/// Owner: one thread. Bound: pages_outstanding_max pages, asked for or held.
class History {
 public:
  struct Options {
    std::optional<std::string> subject{};
    wire::Level level = wire::Level::acknowledged;
    std::size_t outstanding_max = 4;
    std::uint64_t wait_ms = 1'000;
  };
  struct Page {
    wire::PageReply reply{};
    Batch batch{};
  };

  explicit History(Options options) : options_(std::move(options)) {}

  /// From here on; what is outstanding or held is forgotten.
  void start(std::uint64_t cursor);
  /// The next read to send, or nullopt when enough are under way. `wait`: at the end, let the
  /// server wait for news.
  [[nodiscard]] std::optional<wire::Read> want(bool wait) const;
  void sent(std::uint64_t rid, const wire::Read& read);
  /// The read will not be answered: it is wanted again.
  void failed(std::uint64_t rid);
  /// The cursor of a read that is still of interest.
  [[nodiscard]] std::optional<std::uint64_t> after_of(std::uint64_t rid) const;
  void came(std::uint64_t rid, wire::PageReply reply, Batch batch);
  /// The next page in order.
  [[nodiscard]] std::optional<Page> pop();
  [[nodiscard]] std::uint64_t cursor() const { return cursor_; }

 private:
  struct Asked {
    std::uint64_t rid = 0;
    std::uint64_t after = 0;
    std::uint64_t events = 0;
    bool waits = false;
  };
  [[nodiscard]] bool covered(std::uint64_t cursor, bool wait) const;
  [[nodiscard]] std::uint64_t next_known(std::uint64_t cursor) const;
  [[nodiscard]] wire::Read read_of(std::uint64_t after, std::uint64_t events, bool wait) const;

  Options options_;
  std::uint64_t cursor_ = 0;    ///< Up to here pages were given.
  std::uint64_t frontier_ = 0;  ///< Up to here they were asked for.
  std::uint64_t latest_ = 0;
  std::uint64_t stride_ = limits::page_events_max;
  std::vector<Asked> asked_{};
  std::map<std::uint64_t, Page> held_{};  ///< By the cursor they were read from.
};

}  // namespace runwire::client
