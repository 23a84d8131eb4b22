// SPDX-License-Identifier: Apache-2.0
#include "history/store/database.h"

#include <cerrno>

#include <fcntl.h>
#include <sqlite3.h>

#include "base/result.h"
#include "base/unique_fd.h"

namespace keplerd::history {
namespace {

// Another process that reads, such as a backup, may hold the file for so long.
constexpr int kPatience = 5000;  // milliseconds

[[noreturn]] void throw_error(sqlite3* database, int code) {
  throw DatabaseError(database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code), code);
}

void check(sqlite3* database, int code) {
  if (code != SQLITE_OK) throw_error(database, code);
}

}  // namespace

bool DatabaseError::is_corrupt() const {
  const int primary = code_ & 0xff;
  return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB;
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement::Statement(sqlite3* database, std::string_view sql) : database_(database) {
  sqlite3_stmt* statement = nullptr;
  check(database,
        sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement, nullptr));
  statement_.reset(statement);
}

void Statement::reset() {
  sqlite3_reset(statement_.get());  // returns the error of the last step
}

void Statement::bind_at(int index, std::int64_t value) {
  check(database_, sqlite3_bind_int64(statement_.get(), index, value));
}

void Statement::bind_at(int index, const std::optional<std::int64_t>& value) {
  check(database_, value ? sqlite3_bind_int64(statement_.get(), index, *value)
                         : sqlite3_bind_null(statement_.get(), index));
}

void Statement::bind_at(int index, const std::string& text) {
  check(database_, sqlite3_bind_text64(statement_.get(), index, text.data(), text.size(), SQLITE_TRANSIENT,
                                       SQLITE_UTF8));
}

void Statement::bind_at(int index, const Blob& blob) {
  check(database_,
        sqlite3_bind_blob64(statement_.get(), index, blob.bytes.data(), blob.bytes.size(), SQLITE_TRANSIENT));
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) throw_error(database_, sqlite3_extended_errcode(database_));
  reset();
  return false;
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

std::optional<std::int64_t> Statement::optional_integer(int column) const {
  if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) return std::nullopt;
  return integer(column);
}

std::string Statement::text(int column) const {
  const auto* const text = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  return text == nullptr
             ? std::string()
             : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column)));
}

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Database::Database(const std::string& path, bool read_only) {
  sqlite3* database = nullptr;
  const int mode = read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(path.empty() ? ":memory:" : path.c_str(), &database,
                                   mode | SQLITE_OPEN_NOMUTEX, nullptr);
  database_.reset(database);
  check(database, code);
  check(database, sqlite3_busy_timeout(database, kPatience));
}

void Database::run(const std::string& sql) {
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) throw_error(database_.get(), sqlite3_extended_errcode(database_.get()));
}

std::int64_t Database::integer(std::string_view sql) {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::int64_t Database::last_id() const { return sqlite3_last_insert_rowid(database_.get()); }

bool Database::is_in_transaction() const { return sqlite3_get_autocommit(database_.get()) == 0; }

// A failed statement may have rolled back already.
void copy_database(const std::string& path, const std::string& copy) {
  Database database(path, true);
  // SQLite would write to an empty file of somebody else.
  const UniqueFd made(::open(copy.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!made) throw DatabaseError(system_error(copy, errno).message, SQLITE_CANTOPEN);
  database.prepare("VACUUM INTO ?1").bind(copy).run();
}

Transaction::~Transaction() {
  if (!database_.is_in_transaction()) return;
  try {
    database_.run("ROLLBACK");
  } catch (const DatabaseError&) {  // the file is rolled back when it is opened again
  }
}

}  // namespace keplerd::history
