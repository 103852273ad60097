#include "engine/store/segments/catalogue_connection.hpp"

#include "engine/store/segments/catalogue_blobs.hpp"

#include <algorithm>
#include <optional>
#include <string>
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
    "SELECT name, state, local, first, last, first_position, last_position, time, origin, "
    "owner_term, "
    "id FROM subjects ";

}  // namespace

std::unexpected<Error> distrusted(std::string_view why) {
  return fail(ErrorCode::corrupt, "catalogue: " + std::string(why));
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
  if (origin.size() == info.origin.bytes.size())
    std::ranges::copy(origin, info.origin.bytes.begin());
  return info;
}

Status Catalogue::Connection::prepare(std::string_view sql, Statement& into) {
  auto made = database.prepare(sql);
  if (!made) return fail(std::move(made.error()));
  into = std::move(*made);
  return {};
}

Status Catalogue::Connection::prepare_all() {
  const std::string columns(subject_columns);
  const std::string listed =
      "name > ?1 AND name >= ?2 AND name < ?3 AND last > 0 ORDER BY name LIMIT ?4";
  const std::pair<std::string, Statement*> wanted[] = {
      {columns + "WHERE name = ?1", &find},
      {columns + "WHERE " + listed, &list},
      {columns + "WHERE state = 1 AND " + listed, &list_open},
      {"SELECT segment, first, last, places FROM spans WHERE subject = "
       "(SELECT id FROM subjects WHERE name = ?1) AND segment < ?3 AND last > ?2 ORDER BY segment",
       &places},
      {"INSERT INTO segments VALUES(?1, ?2, ?3, ?4, ?5, ?6)", &add_segment},
      {"INSERT OR REPLACE INTO subjects(name, state, local, first, last, first_position, "
       "last_position, time, origin, owner_term, id) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, "
       "?10, "
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

Result<std::uint64_t> Catalogue::Connection::single(std::string_view sql) {
  auto statement = database.prepare(sql);
  if (!statement) return fail(std::move(statement.error()));
  auto row = statement->step();
  if (!row) return fail(std::move(row.error()));
  return *row ? statement->number(0) : std::uint64_t{0};
}

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

}  // namespace runwire::segments
