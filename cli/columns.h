// SPDX-License-Identifier: Apache-2.0
// The columns of each kind of row, for printed tables and for the live screen. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/fields.h"
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

struct RowColumn {
  Column column;
  CellText text;                        // unset for TREND, which the live screen draws from its history
  std::optional<LiveColumn> live = {};  // unset: in printed tables only
  bool printed = true;                  // false: on the live screen only
  bool with_ended = false;              // only if ended rows are shown, too
  std::string_view where_any_has = {};  // only in printed tables with at least one row that has this field
};

// In display order.
const std::vector<RowColumn>& columns_of(client::Kind kind);

}  // namespace keplerd::cli
