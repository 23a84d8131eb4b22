// SPDX-License-Identifier: Apache-2.0
// The columns of each kind of row, for printed tables and for the live screen. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/fields.h"
#include "cli/output/column_unit.h"
#include "cli/output/table.h"
#include "client/kinds.h"

namespace keplerd::cli {

// Printable; `host` is the host object of the row's report.
using CellText = std::function<std::string(const Json& row, const Json& host)>;

// A column on the live screen, where widths are fixed.
struct LiveColumn {
  int width = 0;  // the last visible column takes the remaining width instead
  int from = 0;   // shown on screens at least this wide
};

// An amount of the row: those of a column are shown in one unit.
struct Amount {
  Quantity quantity{};
  std::string_view field;
};

struct RowColumn {
  Column column;
  CellText text;                        // unset for amounts and for TREND, which the live screen draws
  std::optional<LiveColumn> live = {};  // unset: in printed tables only
  bool printed = true;                  // false: on the live screen only
  bool with_ended = false;              // only if ended rows are shown, too
  // Only if at least one row has this field: of the printed table, or of those that the live screen knows.
  std::string_view where_any_has = {};
  std::optional<Amount> amount = {};
  bool of_host = false;    // a part of its host's amount
  bool is_name = false;    // in a tree, the name below its parent's
  bool of_policy = false;  // under the idle policy of --idle=, which the header names
};

inline constexpr int kTrendWidth = 16;

// In display order.
const std::vector<RowColumn>& columns_of(client::Kind kind);

// The unit of an amount's column for these rows; unset for other columns.
std::optional<ColumnUnit> unit_of(const RowColumn& column, const std::vector<Json>& rows);
std::string cell_text(const RowColumn& column, const std::optional<ColumnUnit>& unit, const Json& row,
                      const Json& host);

}  // namespace keplerd::cli
