// SPDX-License-Identifier: Apache-2.0
// How the rows of two reports match: both list them in the same order.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <vector>

#include "report/row_kinds.h"

namespace keplerd {

// Walks two ascending sequences of rows. `order(i, j)` compares the i-th of the first with the j-th of the
// second; then called is `first(i)` or `second(j)` for what only one has, or `both(i, j)`.
template <class Order, class First, class Second, class Both>
void match_rows(std::size_t firsts, std::size_t seconds, Order order, First first, Second second, Both both) {
  std::size_t i = 0, j = 0;
  while (i < firsts || j < seconds) {
    const auto ordering = i == firsts    ? std::strong_ordering::greater
                          : j == seconds ? std::strong_ordering::less
                                         : order(i, j);
    if (ordering < 0) {
      first(i++);
    } else if (ordering > 0) {
      second(j++);
    } else {
      both(i++, j++);
    }
  }
}

struct RowChanges {
  std::vector<std::size_t> rows;     // of the later report: new, or different
  std::vector<std::string> removed;  // ids
};

// From `earlier` (null: nothing was there) to `later`. `earlier_rows`, `later_rows`: ascending indices of the
// rows that are compared, such as a vector or std::views::iota.
template <class EarlierRows, class LaterRows>
RowChanges row_changes(RowKind kind, const Report* earlier, const EarlierRows& earlier_rows,
                       const Report& later, const LaterRows& later_rows) {
  RowChanges changes;
  const auto at = [](const auto& rows, std::size_t position) {
    return *(rows.begin() + static_cast<std::ptrdiff_t>(position));
  };
  match_rows(
      later_rows.size(), earlier_rows.size(),
      [&](std::size_t i, std::size_t j) {
        return compare_rows(later, at(later_rows, i), *earlier, at(earlier_rows, j), kind);
      },
      [&](std::size_t i) { changes.rows.push_back(at(later_rows, i)); },
      [&](std::size_t j) {
        changes.removed.push_back(row_key(*earlier, kind, at(earlier_rows, j)).id_text());
      },
      [&](std::size_t i, std::size_t j) {
        if (row_changed(later, at(later_rows, i), *earlier, at(earlier_rows, j), kind))
          changes.rows.push_back(at(later_rows, i));
      });
  return changes;
}

}  // namespace keplerd
