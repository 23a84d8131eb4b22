// SPDX-License-Identifier: Apache-2.0
// The columns of each kind's table.
#include <algorithm>
#include <functional>

#include "cli/fields.h"
#include "cli/output/human.h"
#include "cli/screens.h"
#include "varlink/json.h"

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

bool any_has(const std::vector<Json>& rows, std::string_view name) {
  return std::any_of(rows.begin(), rows.end(),
                     [name](const Json& row) { return !field(row, name).is_null(); });
}

std::vector<Cell> vm_cells(bool state, const std::vector<Json>& rows) {
  std::vector<Cell> cells = {power("POWER", "powerMicrowatts"), energy("ENERGY", "energyMicrojoules"),
                             share(), cpu_time()};
  if (state) cells.push_back(text("STATE", "state"));
  cells.push_back(
      {{"NAME", Align::kLeft, Keep::kStart}, [](const Json& row, const Json&) { return vm_name_text(row); }});
  if (any_has(rows, "vcpus")) {
    cells.push_back({{"VCPUS"}, [](const Json& row, const Json&) {
                       const auto vcpus = integer_field(row, "vcpus");
                       return vcpus ? std::to_string(*vcpus) : "-";
                     }});
  }
  cells.push_back(text("HYPERVISOR", "hypervisor"));
  cells.push_back(process_id());
  // The id is the UUID, where it has one.
  cells.push_back(text("UUID", "id", Keep::kStart));
  return cells;
}

std::vector<Cell> container_cells(bool state, const std::vector<Json>& rows) {
  std::vector<Cell> cells = {power("POWER", "powerMicrowatts"), energy("ENERGY", "energyMicrojoules"),
                             share(), cpu_time()};
  if (state) cells.push_back(text("STATE", "state"));
  cells.push_back(text("NAME", "name", Keep::kStart));
  cells.push_back(text("RUNTIME", "runtime"));
  if (any_has(rows, "podId")) cells.push_back(text("POD", "podId", Keep::kStart));
  // Not the unit: of its path the end would be kept, and the runtime's tools show the start of the id.
  cells.push_back(text("ID", "id", Keep::kStart));
  return cells;
}

std::vector<Cell> pod_cells(bool state) {
  std::vector<Cell> cells = {power("POWER", "powerMicrowatts"), energy("ENERGY", "energyMicrojoules"),
                             share(), cpu_time()};
  if (state) cells.push_back(text("STATE", "state"));
  cells.push_back(text("NAMESPACE", "namespace", Keep::kStart));
  cells.push_back(text("NAME", "name", Keep::kStart));
  cells.push_back(text("UID", "id", Keep::kStart));
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
  if (any_has(rows, "problem")) cells.push_back(text("PROBLEM", "problem", Keep::kStart));
  return cells;
}

std::vector<Cell> cells_of(client::Kind kind, const std::vector<Json>& rows, bool state) {
  switch (kind) {
    case client::Kind::kUnits:
      return unit_cells(state);
    case client::Kind::kVms:
      return vm_cells(state, rows);
    case client::Kind::kContainers:
      return container_cells(state, rows);
    case client::Kind::kPods:
      return pod_cells(state);
    case client::Kind::kProcesses:
      return process_cells(state);
    case client::Kind::kZones:
      break;
  }
  return zone_cells(rows);
}

}  // namespace

std::string vm_name_text(const Json& row) {
  return (bool_field(row, "guestElsewhere") == true ? "* " : "") + name_text(row, "name");
}

Table rows_table(client::Kind kind, const std::vector<Json>& rows, const Json& host, bool state) {
  const std::vector<Cell> cells = cells_of(kind, rows, state);
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
