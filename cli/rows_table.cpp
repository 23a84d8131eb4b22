// SPDX-License-Identifier: Apache-2.0
#include "cli/rows_table.h"

#include <algorithm>
#include <set>
#include <utility>

#include "cli/fields.h"
#include "cli/output/column_unit.h"
#include "cli/rows.h"
#include "varlink/json.h"

namespace keplerd::cli {
namespace {

bool is_terminated(const Json& row) { return string_field(row, "state") == "terminated"; }

bool is_wanted_type(const Json& row, const Options& options) {
  return options.types.empty() ? options.tree || is_listed_unit(row) : has_type(row, options.types);
}

bool is_within(std::string_view unit, const std::set<std::string, std::less<>>& units) {
  for (auto slash = unit.rfind('/'); slash != std::string_view::npos && slash > 0; slash = unit.rfind('/')) {
    unit = unit.substr(0, slash);
    if (units.contains(unit)) return true;
  }
  return false;
}

bool is_printed(const RowsTable& look, const RowColumn& column, const std::vector<Json>& rows) {
  const auto has = [&](const Json& row) { return !field(row, column.where_any_has).is_null(); };
  if (!column.printed || (column.with_ended && !look.with_ended)) return false;
  if (column.of_host && look.by_host) return false;
  return column.where_any_has.empty() || std::any_of(rows.begin(), rows.end(), has);
}

RowColumn host_column() {
  return {{.header = "HOST", .align = Align::kLeft, .gives_way = Keep::kStart, .leaves = 0},
          [](const Json& row, const Json&) { return name_text(row, "host"); }};
}

}  // namespace

Hidden hide_rows(std::vector<Json>& rows, std::optional<client::Kind> kind, const Options& options) {
  Hidden hidden;
  if (!options.all) hidden.ended = std::erase_if(rows, is_terminated);
  if (kind == client::Kind::kUnits) {
    hidden.other_types = std::erase_if(rows, [&](const Json& row) { return !is_wanted_type(row, options); });
  }
  return hidden;
}

std::optional<std::int64_t> sum_without_nested(const std::vector<Json>& rows,
                                               std::optional<client::Kind> kind, std::string_view amount) {
  const std::string_view path = kind == client::Kind::kUnits ? "id" : "unit";
  std::set<std::string, std::less<>> including;  // units of rows that include what is inside them
  for (const Json& row : rows) {
    const auto unit = string_field(row, path);
    const bool includes = field(row, "ownMicrojoules").is_number() && field(row, amount).is_number();
    if (unit && includes) including.insert(*unit);
  }
  std::optional<std::int64_t> sum;
  for (const Json& row : rows) {
    const auto value = integer_field(row, amount);
    if (!value || is_within(string_field(row, path).value_or(""), including)) continue;
    if (kind == client::Kind::kZones && bool_field(row, "inTotal") != true) continue;
    if (!sum) sum = 0;
    if (__builtin_add_overflow(*sum, *value, &*sum)) return std::nullopt;
  }
  return sum;
}

Table rows_table(const RowsTable& look, const std::vector<Json>& rows) {
  static const RowColumn kHost = host_column();
  std::vector<Column> columns;
  std::vector<const RowColumn*> sources;
  std::vector<std::optional<ColumnUnit>> units;
  const auto add = [&](const RowColumn& column) {
    columns.push_back(column.column);
    if (look.leads != nullptr && column.is_name) columns.back().gives_way = Keep::kStart;
    if (column.of_policy) columns.back().header.append(" ").append(look.policy);
    sources.push_back(&column);
    units.push_back(unit_of(column, rows));
  };
  if (look.by_host) add(kHost);
  for (const RowColumn& column : look.columns) {
    if (is_printed(look, column, rows)) add(column);
  }
  Table table(std::move(columns));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string> cells;
    cells.reserve(sources.size());
    for (std::size_t k = 0; k < sources.size(); ++k) {
      const bool in_tree = look.leads != nullptr && sources[k]->is_name;
      cells.push_back(in_tree ? (*look.leads)[i] + name_text(rows[i], "name")
                              : cell_text(*sources[k], units[k], rows[i], look.host));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace keplerd::cli
