// SPDX-License-Identifier: Apache-2.0
// SQLite as objects. Failures are thrown: they end a whole transaction, whatever statement they occur in.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace keplerd::history {

class DatabaseError : public std::runtime_error {
 public:
  DatabaseError(const std::string& message, int code) : std::runtime_error(message), code_(code) {}
  // The file is not what SQLite wrote.
  bool is_corrupt() const;

 private:
  int code_;  // SQLITE_*
};

struct Blob {
  std::string bytes;
};

// A prepared statement, to be used once or many times: bind all parameters, then step through the rows.
class Statement {
 public:
  Statement(sqlite3* database, std::string_view sql);

  // Starts again, with the parameters ?1, ?2, ... in order.
  template <class... Values>
  Statement& bind(const Values&... values) {
    reset();
    int index = 0;
    (bind_at(++index, values), ...);
    return *this;
  }

  bool step();  // whether there is a row
  void run() {
    while (step()) {
    }
  }

  // Of the current row, from column 0.
  std::int64_t integer(int column) const;
  std::optional<std::int64_t> optional_integer(int column) const;
  std::string text(int column) const;  // or the bytes of a blob

  // Ends the reading of rows. Not needed after the last one.
  void reset();

 private:
  void bind_at(int index, std::int64_t value);
  void bind_at(int index, int value) { bind_at(index, static_cast<std::int64_t>(value)); }
  void bind_at(int index, const std::optional<std::int64_t>& value);
  void bind_at(int index, const std::string& text);
  void bind_at(int index, const Blob& blob);
  void bind_at(int index, const std::optional<std::string>& text) {
    text ? bind_at(index, *text) : bind_at(index, std::optional<std::int64_t>());
  }

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  // Creates the file if it is missing, unless `read_only`. An empty path: in memory.
  explicit Database(const std::string& path, bool read_only = false);

  void run(const std::string& sql);  // several statements, without parameters
  Statement prepare(std::string_view sql) { return {database_.get(), sql}; }
  std::int64_t integer(std::string_view sql);  // the first column of the first row

  std::int64_t last_id() const;
  bool is_in_transaction() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
};

// Writes a copy of the database `path`, as of this moment, to a new file; the database may be in use. Throws
// if that file exists.
void copy_database(const std::string& path, const std::string& copy);

// Rolls back when it goes out of scope, unless it was committed.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) { database_.run("BEGIN IMMEDIATE"); }
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit() { database_.run("COMMIT"); }

 private:
  Database& database_;
};

}  // namespace keplerd::history
