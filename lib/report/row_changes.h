// SPDX-License-Identifier: Apache-2.0
// The difference between two reports, both of which list rows in the same order.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <vector>

#include "report/row_kinds.h"

namespace keplerd {

struct RowChanges {
  std::vector<std::size_t> rows;     // of the later report: new, or different
  std::vector<std::string> removed;  // ids
};

// From `earlier` (null: no rows) to `later`. `earlier_rows`, `later_rows`: ascending indices of the rows to
// compare, such as a vector or std::views::iota.
template <class EarlierRows, class LaterRows>
RowChanges row_changes(RowKind kind, const ReportView& earlier, const EarlierRows& earlier_rows,
                       const ReportView& later, const LaterRows& later_rows) {
  RowChanges changes;
  auto later_row = later_rows.begin();
  auto earlier_row = earlier_rows.begin();
  while (later_row != later_rows.end() || earlier_row != earlier_rows.end()) {
    const auto order = later_row == later_rows.end() ? std::strong_ordering::greater
                       : earlier_row == earlier_rows.end()
                           ? std::strong_ordering::less
                           : compare_rows(later, *later_row, earlier, *earlier_row, kind);
    if (order < 0) {
      changes.rows.push_back(*later_row++);
    } else if (order > 0) {
      changes.removed.push_back(row_key(earlier, kind, *earlier_row++).id_text());
    } else {
      if (row_changed(later, *later_row, earlier, *earlier_row, kind)) changes.rows.push_back(*later_row);
      ++later_row;
      ++earlier_row;
    }
  }
  return changes;
}

}  // namespace keplerd
