// SPDX-License-Identifier: Apache-2.0
// Formats lists of rows.
#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cli/columns.h"
#include "cli/output/column_unit.h"
#include "cli/rows.h"
#include "cli/screens.h"
#include "varlink/json.h"

namespace keplerd::cli {
namespace {

bool is_terminated(const Json& row) { return string_field(row, "state") == "terminated"; }

std::string count_text(std::size_t count, const client::KindInfo& kind) {
  return fmt::format("{} {}", count, count == 1 ? kind.word : kind.words);
}

bool is_within(std::string_view unit, const std::set<std::string, std::less<>>& units) {
  for (auto slash = unit.rfind('/'); slash != std::string_view::npos && slash > 0; slash = unit.rfind('/')) {
    unit = unit.substr(0, slash);
    if (units.contains(unit)) return true;
  }
  return false;
}

// The total power of the rows. A container within a container or pod is included in that one's power; the
// cgroup determines which one, as there may be cgroups of another kind in between. Unset if no power is
// known.
std::optional<Microwatts> power_together(const std::vector<Json>& rows) {
  std::set<std::string, std::less<>> including;  // units of rows that include what is inside them
  for (const Json& row : rows) {
    const auto unit = string_field(row, "unit");
    const bool includes =
        field(row, "ownMicrojoules").is_number() && field(row, "powerMicrowatts").is_number();
    if (unit && includes) including.insert(*unit);
  }
  std::optional<Microwatts> sum;
  for (const Json& row : rows) {
    const auto power = integer_field(row, "powerMicrowatts");
    if (!power || is_within(string_field(row, "unit").value_or(""), including)) continue;
    if (!sum) sum = Microwatts{0};
    if (__builtin_add_overflow(sum->value, *power, &sum->value)) return std::nullopt;
  }
  return sum;
}

bool is_printed(const RowColumn& column, const std::vector<Json>& rows, bool with_ended) {
  const auto has = [&](const Json& row) { return !field(row, column.where_any_has).is_null(); };
  if (!column.printed || (column.with_ended && !with_ended)) return false;
  return column.where_any_has.empty() || std::any_of(rows.begin(), rows.end(), has);
}

// With `leads`, in front of the names: as a tree.
Table rows_table(const ListScreen& screen, const std::vector<Json>& rows,
                 const std::vector<std::string>& leads) {
  std::vector<Column> columns;
  std::vector<const RowColumn*> sources;
  std::vector<std::optional<ColumnUnit>> units;
  for (const RowColumn& column : columns_of(screen.kind.kind)) {
    if (!is_printed(column, rows, screen.options.all)) continue;
    columns.push_back(column.column);
    if (!leads.empty() && column.is_name) columns.back().gives_way = Keep::kStart;
    sources.push_back(&column);
    units.push_back(unit_of(column, rows));
  }
  Table table(std::move(columns));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string> cells;
    cells.reserve(sources.size());
    for (std::size_t k = 0; k < sources.size(); ++k) {
      const bool in_tree = !leads.empty() && sources[k]->is_name;
      cells.push_back(in_tree ? leads[i] + name_text(rows[i], "name")
                              : cell_text(*sources[k], units[k], rows[i], field(screen.status, "host")));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

struct Counts {
  std::size_t shown = 0, all = 0, ended = 0, other_types = 0;
  std::optional<Microwatts> together;
};

std::string counts_text(const ListScreen& screen, const Counts& counts) {
  const client::KindInfo& kind = screen.kind;
  const bool none = kind.guests && counts.shown == 0;
  std::string out = count_text(counts.all, kind);
  if (none) {
    const bool all = sees_everything(screen.status);  // otherwise those of others may be running
    out = fmt::format("No {}{} are running", kind.words, all ? "" : " of yours");
  }
  if (!none && counts.shown != counts.all) out = fmt::format("{} of {}", counts.shown, out);
  if (counts.ended > 0) out += fmt::format(", {} terminated not shown (--all shows them)", counts.ended);
  if (counts.other_types > 0) {
    out += fmt::format(", {} slices and inner cgroups not shown (--tree shows them)", counts.other_types);
  }
  if (!none && counts.together) {
    out += fmt::format(", {} in total",
                       ColumnUnit(Quantity::kPower, counts.together->value).text(counts.together->value));
  }
  return out;
}

// "2.30 W = 1.50 W shown + 0.80 W other"; empty if the host's value is not known, or less than the rows'.
std::string sum_text(Quantity quantity, std::optional<std::int64_t> host, const std::vector<Json>& rows,
                     std::string_view name) {
  if (!host) return "";
  std::int64_t shown = 0;
  for (const Json& row : rows) {
    if (__builtin_add_overflow(shown, integer_field(row, name).value_or(0), &shown)) return "";
  }
  if (shown > *host) return "";
  const ColumnUnit unit(quantity, *host);
  return fmt::format("{} shown + {} other = {}", unit.text(shown), unit.text(*host - shown),
                     unit.text(*host));
}

// What makes processes add up to the host. Others are kernel threads, processes that have ended, and those
// that are not shown.
std::string sums_line(const ListScreen& screen, const std::vector<Json>& shown) {
  const Json& host = field(screen.status, "host");
  const std::string power =
      sum_text(Quantity::kPower, integer_field(host, "activeMicrowatts"), shown, "powerMicrowatts");
  const std::string energy =
      sum_text(Quantity::kEnergy, integer_field(host, "activeMicrojoules"), shown, "activeMicrojoules");
  if (power.empty() && energy.empty()) return "";
  return fmt::format("Host, active: {}{}{}.\n", power, power.empty() || energy.empty() ? "" : "; ", energy);
}

// How many rows were omitted from a list, and the host's totals.
std::string footer(const ListScreen& screen, const std::vector<Json>& shown, const Counts& counts) {
  const bool no_units = screen.kind.kind == client::Kind::kUnits && counts.all == 0 &&
                        screen.options.types.empty() && sees_everything(screen.status);
  std::string out =
      no_units ? "No units are known: run 'keplerctl doctor' for the reason" : counts_text(screen, counts);
  out += ". Host: " + accounts_line(screen.status) + ".\n";
  const bool device_models = std::any_of(
      shown.begin(), shown.end(), [](const Json& row) { return bool_field(row, "guestElsewhere") == true; });
  if (device_models) out += std::string(kDeviceModelOnly) + "\n";
  const bool measured = !host_line(screen.status).empty();
  if (screen.kind.kind == client::Kind::kProcesses && measured && sees_everything(screen.status)) {
    out += sums_line(screen, shown);
  }
  return wrap_words(out, screen.style.width);
}

bool is_wanted_type(const Json& row, const Options& options) {
  return options.types.empty() ? options.tree || is_listed_unit(row) : has_type(row, options.types);
}

}  // namespace

std::string list_screen(const ListScreen& screen, std::vector<Json> rows) {
  const Options& options = screen.options;
  Counts counts{.all = rows.size()};
  if (screen.kind.guests) counts.together = power_together(rows);
  if (!options.all) counts.ended = std::erase_if(rows, is_terminated);
  if (screen.kind.kind == client::Kind::kUnits) {
    counts.other_types = std::erase_if(rows, [&](const Json& row) { return !is_wanted_type(row, options); });
    if (!options.types.empty()) counts.all = rows.size() + counts.ended, counts.other_types = 0;
  }
  if (options.sort.empty()) sort_rows(rows, "power");
  std::vector<std::string> leads;
  if (options.tree) {
    std::vector<TreeRow> tree = tree_of(rows, screen.style.unicode);
    rows.clear();
    for (TreeRow& row : tree) {
      rows.push_back(std::move(row.row));
      leads.push_back(std::move(row.lead));
    }
  }
  if (options.limit && rows.size() > *options.limit) rows.resize(*options.limit);
  counts.shown = rows.size();

  const Table table = rows_table(screen, rows, leads);
  if (!options.legend) return table.text(screen.style);
  std::string out = screen_head(screen.status, screen.style);
  if (!table.empty()) out += table.text(screen.style) + (options.quiet ? "" : "\n");
  return options.quiet ? out : out + footer(screen, rows, counts);
}

}  // namespace keplerd::cli
