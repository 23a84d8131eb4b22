// SPDX-License-Identifier: Apache-2.0
// The kinds of rows in a report, seen alike: by kind and index.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "report/report.h"

namespace keplerd {

enum class RowKind { kUnits, kVms, kContainers, kPods, kProcesses, kZones };

struct RowKindNames {
  std::string_view plural;    // "units"
  std::string_view singular;  // "unit"
  std::string_view no_such;   // the error's name where an id is not known
};
const RowKindNames& row_kind_names(RowKind kind);

// By the plural or the singular; unset where there is no such kind.
std::optional<RowKind> parse_row_kind(std::string_view name);

// The rows that a report must have for this kind to be there.
constexpr Rows rows_for(std::optional<RowKind> kind) {
  return kind == RowKind::kProcesses ? Rows::kAll : Rows::kWithoutProcesses;
}

// Calls `f` with the member of Report that holds the rows of this kind.
template <class F>
auto with_rows(RowKind kind, F f) {
  switch (kind) {
    case RowKind::kUnits:
      return f(&Report::units);
    case RowKind::kVms:
      return f(&Report::vms);
    case RowKind::kContainers:
      return f(&Report::containers);
    case RowKind::kPods:
      return f(&Report::pods);
    case RowKind::kProcesses:
      return f(&Report::processes);
    case RowKind::kZones:
      break;
  }
  return f(&Report::zones);
}

std::size_t row_count(const Report& report, RowKind kind);

// What rows are sorted and found by.
struct RowKey {
  std::string_view id;               // empty: of `process`
  std::optional<ProcessId> process;  // of which no text is kept
  std::string_view name;
  Microjoules energy;
  std::optional<Microwatts> power;
  Nanoseconds cpu{0};

  std::string id_text() const;
};
RowKey row_key(const Report& report, RowKind kind, std::size_t index);

// How two rows of one kind are ordered in their reports.
std::strong_ordering compare_rows(const Report& a, std::size_t i, const Report& b, std::size_t j,
                                  RowKind kind);

// Whether two rows of the same thing read differently.
bool row_changed(const Report& a, std::size_t i, const Report& b, std::size_t j, RowKind kind);

}  // namespace keplerd
