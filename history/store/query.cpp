// SPDX-License-Identifier: Apache-2.0
#include "history/store/query.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "client/kinds.h"

namespace keplerd::history {
namespace {

// The longest spans inside ?1 until ?2, none of which is part of another.
constexpr char kInside[] =
    "begin >= ?1 AND begin < ?2 AND end <= ?2 AND NOT EXISTS (SELECT 1 FROM spans AS longer "
    "WHERE longer.number = spans.part_of AND longer.begin >= ?1 AND longer.end <= ?2)";

std::optional<std::int64_t> number_of(const std::optional<uid_t>& owner) {
  if (!owner) return std::nullopt;
  return static_cast<std::int64_t>(*owner);
}

std::string text_of(Kind kind) { return std::string(client::name_of(kind)); }

}  // namespace

std::optional<Span> recorded_span(Database& database) {
  Statement find = database.prepare("SELECT min(begin), (SELECT time FROM last_reading) FROM spans");
  if (!find.step()) return std::nullopt;
  const auto start = find.optional_integer(0), end = find.optional_integer(1);
  if (!start || !end) return std::nullopt;
  return Span{Time(*start), Time(*end)};
}

namespace {

constexpr char kSpanColumns[] = "number, begin, end, recorded, idle, kernel, workloads, unattributed";

std::vector<RecordedSpan> read_spans(Statement& rows) {
  std::vector<RecordedSpan> spans;
  while (rows.step())
    spans.push_back({rows.integer(0),
                     {Time(rows.integer(1)), Time(rows.integer(2))},
                     Time(rows.integer(3)),
                     {{rows.integer(4)}, {rows.integer(5)}, {rows.integer(6)}, {rows.integer(7)}}});
  return spans;
}

}  // namespace

std::vector<RecordedSpan> spans_inside(Database& database, const Span& span) {
  Statement rows = database.prepare(fmt::format("SELECT {} FROM spans WHERE {}", kSpanColumns, kInside));
  rows.bind(span.start.count(), span.end.count());
  return read_spans(rows);
}

std::vector<RecordedSpan> parts_of(Database& database, const RecordedSpan& whole) {
  Statement rows = database.prepare(
      fmt::format("SELECT {} FROM spans WHERE begin >= ?1 AND begin < ?2 AND part_of = ?3", kSpanColumns));
  rows.bind(whole.span.start.count(), whole.span.end.count(), whole.number);
  return read_spans(rows);
}

std::vector<std::string> find_ids(Database& database, const Selection& selection, const std::string& name) {
  std::vector<std::string> ids;
  for (const char* column : {"id", "name"}) {
    Statement find = database.prepare(
        fmt::format("SELECT DISTINCT id FROM workloads WHERE kind = ?1 AND {} = ?2 AND {} ORDER BY id",
                    column, selection.owner ? "owner = ?3" : "?3 IS NULL"));
    find.bind(text_of(selection.kind), name, number_of(selection.owner));
    while (find.step()) ids.push_back(find.text(0));
    if (!ids.empty()) break;  // an id takes precedence
  }
  return ids;
}

namespace {

// The column that has it: an id takes precedence.
const char* column_of(Database& database, Kind kind, const std::string& name) {
  Statement find = database.prepare("SELECT 1 FROM workloads WHERE kind = ?1 AND id = ?2 LIMIT 1");
  return find.bind(text_of(kind), name).step() ? "id" : "name";
}

}  // namespace

std::vector<FoundWorkload> find_workloads(Database& database, Kind kind, const std::string& name,
                                          Time since) {
  Statement find = database.prepare(
      fmt::format("SELECT number, owner FROM workloads WHERE kind = ?1 AND {} = ?2 AND last > ?3",
                  column_of(database, kind, name)));
  find.bind(text_of(kind), name, since.count());
  std::vector<FoundWorkload> found;
  while (find.step()) {
    found.push_back({find.integer(0), {}});
    if (const auto owner = find.optional_integer(1)) found.back().owner = static_cast<uid_t>(*owner);
  }
  return found;
}

bool system_has(Database& database, Kind kind, const std::string& name) {
  Statement find = database.prepare(
      fmt::format("SELECT 1 FROM workloads WHERE kind = ?1 AND {} = ?2 AND ifnull(owner, 0) = 0 LIMIT 1",
                  column_of(database, kind, name)));
  return find.bind(text_of(kind), name).step();
}

WorkloadKey key_of(const Statement& row, int column) {
  const client::KindInfo* const kind = client::find_kind(row.text(column));
  if (kind == nullptr) throw DatabaseError("a workload of an unknown kind", SQLITE_CORRUPT);
  WorkloadKey key{kind->kind, row.text(column + 1), {}};
  if (const auto owner = row.optional_integer(column + 2)) key.owner = static_cast<uid_t>(*owner);
  return key;
}

}  // namespace keplerd::history
