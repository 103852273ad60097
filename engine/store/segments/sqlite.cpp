#include "engine/store/segments/sqlite.hpp"

#include <sqlite3.h>

namespace runwire::segments {
namespace {

std::unexpected<Error> failed(sqlite3* database) {
  const int code = database == nullptr ? SQLITE_NOMEM : sqlite3_errcode(database);
  const std::string reason = database == nullptr ? "no memory" : sqlite3_errmsg(database);
  return fail(Error{
      code == SQLITE_FULL ? ErrorCode::store_full : ErrorCode::store_failed,
      "catalogue: " + reason,
      {}}.with("sqlite", static_cast<std::uint64_t>(code)));
}

}  // namespace

void Statement::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}
void Database::Closer::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

void Statement::bind(int at, std::uint64_t number) {
  sqlite3_bind_int64(statement_.get(), at, static_cast<sqlite3_int64>(number));
}

void Statement::bind(int at, std::string_view text) {
  // A null pointer would be NULL, not an empty text.
  const char* data = text.empty() ? "" : text.data();
  sqlite3_bind_text(statement_.get(), at, data, static_cast<int>(text.size()), SQLITE_STATIC);
}

void Statement::bind(int at, ByteView blob) {
  const void* data = blob.empty() ? static_cast<const void*>("") : blob.data();
  sqlite3_bind_blob(statement_.get(), at, data, static_cast<int>(blob.size()), SQLITE_STATIC);
}

void Statement::bind_null(int at) {
  sqlite3_bind_null(statement_.get(), at);
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    reset();
    return false;
  }
  auto error = failed(sqlite3_db_handle(statement_.get()));
  reset();
  return error;
}

Status Statement::run() {
  for (;;) {
    auto row = step();
    if (!row) return fail(std::move(row.error()));
    if (!*row) return {};
  }
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
}

std::uint64_t Statement::number(int column) const {
  return static_cast<std::uint64_t>(sqlite3_column_int64(statement_.get(), column));
}

std::string_view Statement::text(int column) const {
  return as_text(blob(column));
}

ByteView Statement::blob(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (data == nullptr || size <= 0) return {};
  return {static_cast<const std::byte*>(data), static_cast<std::size_t>(size)};
}

Result<Database> Database::open(const std::string& path) {
  sqlite3* opened = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const int code =
      sqlite3_open_v2(path.empty() ? ":memory:" : path.c_str(), &opened, flags, nullptr);
  Database database;
  database.database_.reset(opened);
  if (code != SQLITE_OK) return failed(opened);
  sqlite3_extended_result_codes(opened, 0);
  sqlite3_busy_timeout(opened, 5000);
  return database;
}

Status Database::execute(const char* script) {
  if (sqlite3_exec(database_.get(), script, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return failed(database_.get());
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(database_.get(),
                                      sql.data(),
                                      static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT,
                                      &statement,
                                      nullptr);
  if (code != SQLITE_OK) return failed(database_.get());
  return Statement(statement);
}

}  // namespace runwire::segments
