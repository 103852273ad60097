#pragma once

#include "codec/base/bytes.hpp"
#include "codec/base/result.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace runwire::segments {

/// One prepared statement. Bind from 1, read from 0, as SQLite does. Texts and blobs are borrowed:
/// bound ones until reset(), read ones until the next step() or reset().
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  void bind(int at, std::uint64_t number);
  void bind(int at, std::string_view text);
  void bind(int at, ByteView blob);
  void bind_null(int at);
  /// True: a row is there. After false or an error the statement is reset.
  Result<bool> step();
  Status run();  ///< step() to the end and reset.
  void reset();

  [[nodiscard]] std::uint64_t number(int column) const;
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] ByteView blob(int column) const;

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_{};
};

/// One connection. Owner: one thread at a time. Errors: `store_full`, or `store_failed` with
/// SQLite's words.
class Database {
 public:
  Database() = default;
  /// An empty path is a database in memory.
  static Result<Database> open(const std::string& path);
  Status execute(const char* script);
  Result<Statement> prepare(std::string_view sql);

 private:
  struct Closer {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Closer> database_{};
};

}  // namespace runwire::segments
