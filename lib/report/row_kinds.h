// SPDX-License-Identifier: Apache-2.0
// Uniform access to the kinds of rows of a sample: by kind and index. Views have a report.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace keplerd {

enum class RowKind { kUnits, kVms, kContainers, kPods, kProcesses, kZones };

struct RowKindNames {
  std::string_view plural;    // "units"
  std::string_view singular;  // "unit"
  std::string_view no_such;   // the name of the error for an unknown id
};
const RowKindNames& row_kind_names(RowKind kind);

// By the plural or the singular; unset if there is no such kind.
std::optional<RowKind> parse_row_kind(std::string_view name);

inline const std::vector<ProcessRow>& processes_of(const ReportView& view) {
  static const std::vector<ProcessRow> kNone;
  return view.processes ? view.processes->rows : kNone;
}

// Calls `f` with a function that returns the rows of this kind from a view.
template <class F>
auto with_rows(RowKind kind, F f) {
  const auto in_report = [](auto rows) {
    return [rows](const ReportView& view) -> const auto& { return (*view.report).*rows; };
  };
  switch (kind) {
    case RowKind::kUnits:
      return f(in_report(&Report::units));
    case RowKind::kVms:
      return f(in_report(&Report::vms));
    case RowKind::kContainers:
      return f(in_report(&Report::containers));
    case RowKind::kPods:
      return f(in_report(&Report::pods));
    case RowKind::kProcesses:
      return f(processes_of);
    case RowKind::kZones:
      break;
  }
  return f(in_report(&Report::zones));
}

std::size_t row_count(const ReportView& view, RowKind kind);

// Whether what the row is about still exists: the workload runs, or the zone is counted.
inline bool is_running(const WorkloadRow& row) { return row.running; }
inline bool is_running(const ZoneRow& row) { return row.current; }

// The keys by which rows are sorted and found.
struct RowKey {
  std::string_view id;               // empty: of `process`
  std::optional<ProcessId> process;  // processes have no stored id
  std::string_view name;
  Microjoules energy;
  std::optional<Microwatts> power;
  Nanoseconds cpu{0};

  std::string id_text() const;
};
RowKey row_key(const ReportView& view, RowKind kind, std::size_t index);

// How two rows of one kind are ordered.
template <class Row>
requires std::derived_from<Row, WorkloadRow> std::strong_ordering compare_workloads(const Row& a,
                                                                                    const Row& b) {
  return a.info->id <=> b.info->id;
}
std::strong_ordering compare_rows(const ReportView& a, std::size_t i, const ReportView& b, std::size_t j,
                                  RowKind kind);

// Whether two rows of the same object differ in any field.
bool row_changed(const ReportView& a, std::size_t i, const ReportView& b, std::size_t j, RowKind kind);

}  // namespace keplerd
