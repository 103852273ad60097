#include "engine/store/segments/catalogue.hpp"

#include "engine/store/segments/sqlite.hpp"
#include "engine/store/segments/varint.hpp"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <utility>

namespace runwire::segments {
namespace {

constexpr const char* settings = R"(
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA cache_size = -2048;
  PRAGMA temp_store = MEMORY;
  PRAGMA journal_size_limit = 8388608;
)";

constexpr std::uint64_t schema_version = 1;
constexpr const char* schema = R"(
  BEGIN;
  CREATE TABLE log(only INTEGER PRIMARY KEY CHECK(only = 1), id BLOB NOT NULL, checkpoint BLOB NOT NULL);
  CREATE TABLE segments(number INTEGER PRIMARY KEY, base INTEGER NOT NULL, last INTEGER NOT NULL,
    bytes INTEGER NOT NULL, term INTEGER NOT NULL, marks BLOB NOT NULL);
  CREATE TABLE subjects(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, state INTEGER NOT NULL,
    local INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    first_position INTEGER NOT NULL, last_position INTEGER NOT NULL, time INTEGER NOT NULL,
    origin BLOB NOT NULL, owner_term INTEGER NOT NULL);
  CREATE INDEX open_subjects ON subjects(name) WHERE state = 1;
  CREATE TABLE spans(subject INTEGER NOT NULL, segment INTEGER NOT NULL, first INTEGER NOT NULL,
    last INTEGER NOT NULL, places BLOB NOT NULL, PRIMARY KEY(subject, segment)) WITHOUT ROWID;
  PRAGMA user_version = 1;
  COMMIT;
)";

constexpr std::string_view subject_columns =
    "SELECT name, state, local, first, last, first_position, last_position, time, origin, owner_term, "
    "id FROM subjects ";

std::unexpected<Error> distrusted(std::string_view why) {
  return fail(ErrorCode::corrupt, "catalogue: " + std::string(why));
}

/// Offsets are multiples of 8 and grow: each is kept as the distance from the end of the one before.
Bytes encode_places(const std::vector<Place>& places) {
  Bytes bytes;
  std::uint64_t end = 0;
  for (const Place& place : places) {
    put_varint(bytes, (place.offset - end) / alignment);
    put_varint(bytes, place.bytes);
    end = place.offset + padded(place.bytes);
  }
  return bytes;
}

void decode_places(ByteView bytes, std::size_t skip, std::size_t count, std::vector<Place>& into) {
  VarintReader reader(bytes);
  std::uint64_t end = 0;
  for (std::size_t at = 0; !reader.done() && at < skip + count; ++at) {
    const std::uint64_t offset = end + reader.number() * alignment;
    const std::uint64_t size = reader.number();
    if (at >= skip) {
      into.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size)});
    }
    end = offset + padded(size);
  }
}

Bytes encode_marks(const std::vector<Mark>& marks) {
  Bytes bytes;
  Mark before{};
  for (const Mark& mark : marks) {
    put_varint(bytes, mark.offset - before.offset);
    put_varint(bytes, mark.after.value - before.after.value);
    before = mark;
  }
  return bytes;
}

std::vector<Mark> decode_marks(ByteView bytes) {
  std::vector<Mark> marks;
  VarintReader reader(bytes);
  Mark mark{};
  while (!reader.done()) {
    mark.offset += static_cast<std::uint32_t>(reader.number());
    mark.after.value += reader.number();
    marks.push_back(mark);
  }
  return marks;
}

SubjectInfo read_subject_row(const Statement& row) {
  SubjectInfo info{.name = std::string(row.text(0)),
                   .state = static_cast<RunState>(std::min<std::uint64_t>(row.number(1), 4)),
                   .local = row.number(2) != 0,
                   .first = {row.number(3)},
                   .last = {row.number(4)},
                   .first_position = {row.number(5)},
                   .last_position = {row.number(6)},
                   .time = row.number(7),
                   .owner_term = {row.number(9)}};
  const ByteView origin = row.blob(8);
  if (origin.size() == info.origin.bytes.size()) std::ranges::copy(origin, info.origin.bytes.begin());
  return info;
}

}  // namespace

/// A database and its statements, for one thread at a time.
struct Catalogue::Connection {
  std::mutex mutex{};
  Database database{};
  Statement find{}, list{}, list_open{}, places{};
  Statement add_segment{}, put_subject{}, add_span{}, put_checkpoint{};

  Status prepare(std::string_view sql, Statement& into) {
    auto made = database.prepare(sql);
    if (!made) return fail(std::move(made.error()));
    into = std::move(*made);
    return {};
  }

  Status prepare_all() {
    const std::string columns(subject_columns);
    const std::string listed = "name > ?1 AND name >= ?2 AND name < ?3 AND last > 0 ORDER BY name LIMIT ?4";
    const std::pair<std::string, Statement*> wanted[] = {
        {columns + "WHERE name = ?1", &find},
        {columns + "WHERE " + listed, &list},
        {columns + "WHERE state = 1 AND " + listed, &list_open},
        {"SELECT segment, first, last, places FROM spans WHERE subject = "
         "(SELECT id FROM subjects WHERE name = ?1) AND segment < ?3 AND last > ?2 ORDER BY segment",
         &places},
        {"INSERT INTO segments VALUES(?1, ?2, ?3, ?4, ?5, ?6)", &add_segment},
        {"INSERT OR REPLACE INTO subjects(name, state, local, first, last, first_position, "
         "last_position, time, origin, owner_term, id) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
         "?11) RETURNING id",
         &put_subject},
        {"INSERT INTO spans VALUES(?1, ?2, ?3, ?4, ?5)", &add_span},
        {"UPDATE log SET checkpoint = ?1", &put_checkpoint},
    };
    for (const auto& [sql, statement] : wanted) {
      if (auto status = prepare(sql, *statement); !status) return status;
    }
    return {};
  }

  Result<std::uint64_t> single(std::string_view sql) {
    auto statement = database.prepare(sql);
    if (!statement) return fail(std::move(statement.error()));
    auto row = statement->step();
    if (!row) return fail(std::move(row.error()));
    return *row ? statement->number(0) : std::uint64_t{0};
  }

  Status set_up(const LogId& log);
  Status add(const SegmentIndex& index, const Checkpoint& checkpoint, const LogId& log);
  Result<std::uint64_t> put(std::string_view name, const Span& span, const LogId& log);
};

Status Catalogue::Connection::set_up(const LogId& log) {
  if (auto status = database.execute(settings); !status) return status;
  auto version = single("PRAGMA user_version");
  if (!version) return fail(std::move(version.error()));
  if (*version == 0) {
    if (auto status = database.execute(schema); !status) return status;
    Statement first;
    if (auto status = prepare("INSERT INTO log VALUES(1, ?1, ?2)", first); !status) return status;
    const Bytes empty = encode_checkpoint({});
    first.bind(1, log.view());
    first.bind(2, ByteView(empty));
    if (auto status = first.run(); !status) return status;
  } else if (*version != schema_version) {
    return distrusted("another version");
  }
  Statement id;
  if (auto status = prepare("SELECT id FROM log", id); !status) return status;
  auto row = id.step();
  if (!row) return fail(std::move(row.error()));
  if (!*row || !std::ranges::equal(id.blob(0), log.view())) return distrusted("of another log");
  id.reset();
  return prepare_all();
}

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
    if (auto status = connect(catalogue->own_reader_); !status) return fail(std::move(status.error()));
    catalogue->reader_ = catalogue->own_reader_.get();
  }
  return catalogue;
}

void Catalogue::remove_files(const std::string& path) {
  std::error_code ignored;
  for (const char* end : {"", "-wal", "-shm", "-journal"}) std::filesystem::remove(path + end, ignored);
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

Result<std::uint64_t> Catalogue::Connection::put(std::string_view name,
                                                 const Span& span,
                                                 const LogId& log) {
  SubjectInfo info{.origin = log};
  find.bind(1, name);
  auto known = find.step();
  if (!known) return fail(std::move(known.error()));
  std::optional<std::uint64_t> id;
  if (*known) {
    info = read_subject_row(find);
    id = find.number(10);
  }
  find.reset();
  overlay(span, info);
  put_subject.bind(1, name);
  put_subject.bind(2, static_cast<std::uint64_t>(info.state));
  put_subject.bind(3, std::uint64_t{info.local});
  put_subject.bind(4, info.first.value);
  put_subject.bind(5, info.last.value);
  put_subject.bind(6, info.first_position.value);
  put_subject.bind(7, info.last_position.value);
  put_subject.bind(8, info.time);
  put_subject.bind(9, info.origin.view());
  put_subject.bind(10, info.owner_term.value);
  id ? put_subject.bind(11, *id) : put_subject.bind_null(11);
  auto row = put_subject.step();
  if (!row) return fail(std::move(row.error()));
  const std::uint64_t given = put_subject.number(0);
  put_subject.reset();
  return given;
}

Status Catalogue::Connection::add(const SegmentIndex& index,
                                  const Checkpoint& checkpoint,
                                  const LogId& log) {
  const SegmentInfo& segment = index.info();
  for (const auto& [name, span] : index.spans()) {
    auto id = put(name, span, log);
    if (!id) return fail(std::move(id.error()));
    if (span.places.empty()) continue;
    const Bytes places_blob = encode_places(span.places);
    add_span.bind(1, *id);
    add_span.bind(2, segment.number);
    add_span.bind(3, span.first);
    add_span.bind(4, span.last());
    add_span.bind(5, ByteView(places_blob));
    if (auto status = add_span.run(); !status) return status;
  }
  const Bytes marks = encode_marks(segment.marks);
  add_segment.bind(1, segment.number);
  add_segment.bind(2, segment.base.value);
  add_segment.bind(3, segment.last.value);
  add_segment.bind(4, segment.bytes);
  add_segment.bind(5, segment.term.value);
  add_segment.bind(6, ByteView(marks));
  if (auto status = add_segment.run(); !status) return status;
  const Bytes state = encode_checkpoint(checkpoint);
  put_checkpoint.bind(1, ByteView(state));
  return put_checkpoint.run();
}

Status Catalogue::add(const SegmentIndex& index, const Checkpoint& checkpoint) {
  const std::scoped_lock lock(writer_->mutex);
  if (auto status = writer_->database.execute("BEGIN IMMEDIATE"); !status) return status;
  auto status = writer_->add(index, checkpoint, log_);
  if (status) status = writer_->database.execute("COMMIT");
  // The first error is the one to tell; a rollback that fails has nothing to undo.
  if (!status) [[maybe_unused]] const auto undone = writer_->database.execute("ROLLBACK");
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
