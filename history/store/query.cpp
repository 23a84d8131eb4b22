// SPDX-License-Identifier: Apache-2.0
#include "history/store/query.h"

#include <fmt/format.h>

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

Summary summary_of(Database& database, const Span& span) {
  Statement sums = database.prepare(fmt::format(
      "SELECT sum(recorded), sum(idle), sum(kernel), sum(workloads), sum(unattributed) FROM spans "
      "WHERE {}",
      kInside));
  sums.bind(span.start.count(), span.end.count()).step();
  return {Time(sums.integer(0)),
          {{sums.integer(1)}, {sums.integer(2)}, {sums.integer(3)}, {sums.integer(4)}}};
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

std::vector<WorkloadEnergy> energy_of(Database& database, const Span& span, const Selection& selection) {
  Statement sums = database.prepare(fmt::format(
      "SELECT id, owner, name, sum(active), sum(energy.idle), workload, project FROM spans "
      "CROSS JOIN energy ON span = spans.number CROSS JOIN workloads ON workloads.number = workload "
      "WHERE {} AND kind = ?3 {} {} GROUP BY workload ORDER BY id, owner",
      kInside, selection.id ? "AND id = ?4" : "AND ?4 IS NULL",
      selection.owner ? "AND owner = ?5" : "AND ?5 IS NULL"));
  sums.bind(span.start.count(), span.end.count(), text_of(selection.kind), selection.id,
            number_of(selection.owner));
  std::vector<WorkloadEnergy> found;
  while (sums.step()) {
    WorkloadEnergy workload{{selection.kind, sums.text(0), {}},
                            sums.text(2),
                            {{sums.integer(3)}, {sums.integer(4)}},
                            {},
                            sums.integer(5),
                            sums.text(6)};
    if (const auto owner = sums.optional_integer(1)) workload.key.owner = static_cast<uid_t>(*owner);
    found.push_back(std::move(workload));
  }
  return found;
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

}  // namespace keplerd::history
