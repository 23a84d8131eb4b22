// SPDX-License-Identifier: Apache-2.0
// Which rows of a list are shown, and the table of them; also for lists that are not of a kind of keplerd.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/columns.h"
#include "cli/options.h"
#include "cli/output/table.h"
#include "client/kinds.h"
#include "varlink/json.h"

namespace keplerd::cli {

struct Hidden {
  std::size_t ended = 0, other_types = 0;
};

// Removes the rows that a table does not show with these options, but for --limit.
Hidden hide_rows(std::vector<Json>& rows, std::optional<client::Kind> kind, const Options& options);

// The sum of an amount of all rows, for rows of one host. What is inside another row of the list, according
// to its cgroup, is included in that one. Unset if no row has this amount.
std::optional<std::int64_t> sum_without_nested(const std::vector<Json>& rows,
                                               std::optional<client::Kind> kind, std::string_view amount);

struct RowsTable {
  const std::vector<RowColumn>& columns;
  Json host = {};                                   // of the report, for shares; null: they are not known
  bool with_ended = false;                          // --all
  bool by_host = false;                             // rows of several hosts, which they name
  const std::vector<std::string>* leads = nullptr;  // in front of the names, as a tree
  std::string_view policy = {};                     // of --idle=
};
Table rows_table(const RowsTable& look, const std::vector<Json>& rows);

}  // namespace keplerd::cli
