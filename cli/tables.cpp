// SPDX-License-Identifier: Apache-2.0
// The columns of each kind's table.
#include <algorithm>
#include <array>
#include <functional>

#include "cli/fields.h"
#include "cli/output/human.h"
#include "cli/screens.h"

namespace keplerd::cli {
namespace {

// A column and how a row's cell is made. `host` is the host object.
struct Cell {
  Column column;
  std::function<std::string(const Json& row, const Json& host)> text;
};

Cell power(std::string header, std::string_view name) {
  return {{std::move(header)}, [name](const Json& row, const Json&) { return power_text(row, name); }};
}

Cell energy(std::string header, std::string_view name) {
  return {{std::move(header)}, [name](const Json& row, const Json&) { return energy_text(row, name); }};
}

Cell cpu_time() {
  return {{"CPU"}, [](const Json& row, const Json&) { return time_text(row, "cpuUsec"); }};
}

// Of all the host's energy since it is counted.
Cell share() {
  return {{"SHARE"}, [](const Json& row, const Json& host) {
            const auto part = integer_field(row, "energyMicrojoules");
            return part ? format_percent(*part, integer_field(host, "energyMicrojoules").value_or(0)) : "-";
          }};
}

Cell text(std::string header, std::string_view name, std::optional<Keep> gives_way = std::nullopt) {
  return {{std::move(header), Align::kLeft, gives_way},
          [name](const Json& row, const Json&) { return name_text(row, name); }};
}

Cell process_id() {
  return {{"PID"}, [](const Json& row, const Json&) {
            const auto pid = integer_field(row, "pid");
            return pid ? std::to_string(*pid) : "-";
          }};
}

Cell in_total() {
  return {{"TOTAL", Align::kLeft}, [](const Json& row, const Json&) -> std::string {
            const auto counts = bool_field(row, "inTotal");
            if (!counts) return "-";
            return *counts ? "yes" : "no";
          }};
}

std::vector<Cell> unit_cells(bool state) {
  std::vector<Cell> cells = {power("POWER", "powerMicrowatts"), energy("ENERGY", "energyMicrojoules"),
                             share(), energy("OWN", "ownMicrojoules"), cpu_time()};
  if (state) cells.push_back(text("STATE", "state"));
  // The path, not the name: every user has an init.scope.
  cells.push_back(text("UNIT", "id", Keep::kEnd));
  return cells;
}

std::vector<Cell> process_cells(bool state) {
  std::vector<Cell> cells = {power("POWER", "powerMicrowatts"), energy("ENERGY", "energyMicrojoules"),
                             share(), cpu_time(), process_id()};
  if (state) cells.push_back(text("STATE", "state"));
  cells.push_back(text("NAME", "name"));
  cells.push_back(text("UNIT", "unit", Keep::kEnd));
  return cells;
}

std::vector<Cell> zone_cells(const std::vector<Json>& rows) {
  std::vector<Cell> cells = {power("POWER", "powerMicrowatts"),
                             power("ACTIVE", "activeMicrowatts"),
                             power("IDLE", "idleMicrowatts"),
                             energy("ENERGY", "energyMicrojoules"),
                             text("QUALITY", "quality"),
                             in_total(),
                             text("ZONE", "id")};
  const bool problems = std::any_of(rows.begin(), rows.end(),
                                    [](const Json& row) { return string_field(row, "problem").has_value(); });
  if (problems) cells.push_back(text("PROBLEM", "problem", Keep::kStart));
  return cells;
}

}  // namespace

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kKinds = {{"units", "unit"}, {"processes", "process"}, {"zones", "zone"}};
  return kKinds;
}

const Kind* find_kind(std::string_view word) {
  const auto found = std::find_if(kinds().begin(), kinds().end(), [word](const Kind& kind) {
    return word == kind.name || word == kind.singular;
  });
  return found == kinds().end() ? nullptr : &*found;
}

Table rows_table(const Kind& kind, const std::vector<Json>& rows, const Json& host, bool state) {
  const std::vector<Cell> cells = kind.name == "units"       ? unit_cells(state)
                                  : kind.name == "processes" ? process_cells(state)
                                                             : zone_cells(rows);
  std::vector<Column> columns;
  columns.reserve(cells.size());
  for (const Cell& cell : cells) columns.push_back(cell.column);
  Table table(std::move(columns));
  for (const Json& row : rows) {
    std::vector<std::string> line;
    line.reserve(cells.size());
    for (const Cell& cell : cells) line.push_back(cell.text(row, host));
    table.add_row(std::move(line));
  }
  return table;
}

}  // namespace keplerd::cli
