#include "engine/store/segments/catalogue.hpp"

#include "engine/store/segments/catalogue_blobs.hpp"
#include "engine/store/segments/catalogue_connection.hpp"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <utility>

namespace runwire::segments {

Catalogue::Catalogue() = default;
Catalogue::~Catalogue() = default;

Result<std::unique_ptr<Catalogue>> Catalogue::open(const std::string& path, const LogId& log) {
  std::unique_ptr<Catalogue> catalogue(new Catalogue());
  catalogue->log_ = log;
  const auto connect = [&](std::unique_ptr<Connection>& into) -> Status {
    auto database = Database::open(path);
    if (!database) return fail(std::move(database.error()));
    into = std::make_unique<Connection>();
    into->database = std::move(*database);
    return into->set_up(log);
  };
  if (auto status = connect(catalogue->writer_); !status) return fail(std::move(status.error()));
  catalogue->reader_ = catalogue->writer_.get();
  if (!path.empty()) {
    if (auto status = connect(catalogue->own_reader_); !status)
      return fail(std::move(status.error()));
    catalogue->reader_ = catalogue->own_reader_.get();
  }
  return catalogue;
}

void Catalogue::remove_files(const std::string& path) {
  std::error_code ignored;
  for (const char* end : {"", "-wal", "-shm", "-journal"})
    std::filesystem::remove(path + end, ignored);
}

Result<Catalogue::Head> Catalogue::head() const {
  const std::scoped_lock lock(reader_->mutex);
  Head head;
  Statement rows;
  if (auto status = reader_->prepare("SELECT * FROM segments ORDER BY number", rows); !status) {
    return fail(std::move(status.error()));
  }
  for (;;) {
    auto row = rows.step();
    if (!row) return fail(std::move(row.error()));
    if (!*row) break;
    head.segments.push_back({.number = rows.number(0),
                             .base = {rows.number(1)},
                             .last = {rows.number(2)},
                             .bytes = rows.number(3),
                             .term = {rows.number(4)},
                             .marks = decode_marks(rows.blob(5))});
  }
  Statement state;
  if (auto status = reader_->prepare("SELECT checkpoint FROM log", state); !status) {
    return fail(std::move(status.error()));
  }
  auto row = state.step();
  if (!row) return fail(std::move(row.error()));
  auto checkpoint = decode_checkpoint(state.blob(0));
  if (!checkpoint) return distrusted("its checkpoint cannot be read");
  head.checkpoint = std::move(*checkpoint);
  return head;
}

Status Catalogue::add(const SegmentIndex& index, const Checkpoint& checkpoint) {
  const std::scoped_lock lock(writer_->mutex);
  if (auto status = writer_->database.execute("BEGIN IMMEDIATE"); !status) return status;
  auto status = writer_->add(index, checkpoint, log_);
  if (status) status = writer_->database.execute("COMMIT");
  // The first error is the one to tell; a rollback that fails has nothing to undo.
  if (!status) [[maybe_unused]]
    const auto undone = writer_->database.execute("ROLLBACK");
  return status;
}

Result<std::optional<SubjectInfo>> Catalogue::find(std::string_view subject) const {
  const std::scoped_lock lock(reader_->mutex);
  Statement& rows = reader_->find;
  rows.bind(1, subject);
  auto row = rows.step();
  if (!row) return fail(std::move(row.error()));
  if (!*row) return std::nullopt;
  SubjectInfo info = read_subject_row(rows);
  rows.reset();
  return info;
}

Result<std::vector<SubjectInfo>> Catalogue::list(std::string_view prefix,
                                                 std::string_view after,
                                                 std::size_t count_max,
                                                 bool open_only) const {
  const std::scoped_lock lock(reader_->mutex);
  Statement& rows = open_only ? reader_->list_open : reader_->list;
  // Names are printable ASCII, so that this is above every name with the prefix.
  const std::string above = std::string(prefix) + "\x7f";
  rows.bind(1, after);
  rows.bind(2, prefix);
  rows.bind(3, std::string_view(above));
  rows.bind(4, std::uint64_t{count_max});
  std::vector<SubjectInfo> found;
  for (;;) {
    auto row = rows.step();
    if (!row) return fail(std::move(row.error()));
    if (!*row) return found;
    found.push_back(read_subject_row(rows));
  }
}

Result<std::vector<PlacedRun>> Catalogue::places(std::string_view subject,
                                                 std::uint64_t after,
                                                 std::uint64_t before,
                                                 std::size_t count_max) const {
  const std::scoped_lock lock(reader_->mutex);
  Statement& rows = reader_->places;
  rows.bind(1, subject);
  rows.bind(2, after);
  rows.bind(3, before);
  std::vector<PlacedRun> found;
  while (count_max > 0) {
    auto row = rows.step();
    if (!row) return fail(std::move(row.error()));
    if (!*row) return found;
    const std::uint64_t first = rows.number(1);
    const std::uint64_t from = std::max(first, after + 1);
    PlacedRun& run = found.emplace_back(PlacedRun{.segment = rows.number(0), .first = from});
    decode_places(rows.blob(3), from - first, count_max, run.places);
    count_max -= run.places.size();
    if (run.places.empty()) break;
  }
  rows.reset();
  return found;
}

}  // namespace runwire::segments
