// SPDX-License-Identifier: Apache-2.0
#include "cli/columns.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cli/rows.h"
#include "cli/wall.h"
#include "varlink/json.h"

namespace keplerd::cli {
namespace {

using FieldText = std::string (*)(const Json& row, std::string_view field);

CellText of_field(FieldText text, std::string_view name) {
  return [=](const Json& row, const Json&) { return text(row, name); };
}

std::string integer_text(const Json& row, std::string_view name) {
  const auto value = integer_field(row, name);
  return value ? std::to_string(*value) : "-";
}

std::string yes_no_text(const Json& row, std::string_view name) {
  const auto value = bool_field(row, name);
  if (!value) return "-";
  return *value ? "yes" : "no";
}

// "* NAME" if the hypervisor runs the guest itself and only its device model is counted. The mark comes
// first, where it remains visible however narrow the column.
std::string vm_name_text(const Json& row, std::string_view name) {
  return (bool_field(row, "guestElsewhere") == true ? "* " : "") + name_text(row, name);
}

// The share of all the host's energy since counting began.
std::string share_of_host(const Json& row, const Json& host) {
  return share_text(row, "energyMicrojoules", integer_field(host, "energyMicrojoules"));
}

RowColumn amount(std::string header, Quantity quantity, std::string_view name, LiveColumn live) {
  RowColumn column{{std::move(header)}, {}, live};
  column.amount = Amount{quantity, name};
  return column;
}

RowColumn power(std::string header = "POWER", std::string_view name = "powerMicrowatts", int from = 0) {
  return amount(std::move(header), Quantity::kPower, name, {9, from});
}

RowColumn energy(int from = 36) {
  return amount("ENERGY", Quantity::kEnergy, "energyMicrojoules", {10, from});
}

RowColumn own_energy() { return amount("OWN", Quantity::kEnergy, "ownMicrojoules", {10, 80}); }

RowColumn share() {
  RowColumn column{{"SHARE"}, share_of_host, LiveColumn{7, 56}};
  column.of_host = true;
  return column;
}

RowColumn cpu_time(int from = 64) { return amount("CPU", Quantity::kTime, "cpuUsec", {9, from}); }

RowColumn process_id(int from) { return {{"PID"}, of_field(integer_text, "pid"), LiveColumn{7, from}}; }

RowColumn in_total() {
  return {{"TOTAL", Align::kLeft}, of_field(yes_no_text, "inTotal"), LiveColumn{5, 80}};
}

RowColumn text(std::string header, std::string_view name, std::optional<LiveColumn> live,
               std::optional<Keep> gives_way = std::nullopt) {
  return {{std::move(header), Align::kLeft, gives_way}, of_field(name_text, name), live};
}

RowColumn span(std::string header, std::string_view name) {
  return {{std::move(header)}, of_field(time_text, name)};
}

RowColumn vm_name() {
  return {{"NAME", Align::kLeft, Keep::kStart}, of_field(vm_name_text, "name"), LiveColumn{25}};
}

RowColumn only_live(RowColumn column) {
  column.printed = false;
  return column;
}

RowColumn only_printed(RowColumn column) {
  column.live.reset();
  return column;
}

// However narrow the terminal.
RowColumn kept(RowColumn column) {
  column.column.leaves = 0;
  return column;
}

RowColumn where_any_has(std::string_view name, RowColumn column) {
  column.where_any_has = name;
  return only_printed(std::move(column));
}

RowColumn also_live(LiveColumn live, RowColumn column) {
  column.live = live;
  return column;
}

RowColumn error() {
  return where_any_has("errorMicrojoules", {{"+-"}, [](const Json& row, const Json&) {
                                              const std::string text = error_text(row);
                                              return text.empty() ? "-" : text;
                                            }});
}

// Where a graphics card has worked for any of them (add_graphics()).
RowColumn graphics() {
  constexpr LiveColumn kLive = {9, 40};
  return also_live(kLive,
                   where_any_has(kGraphicsField, amount("GPU", Quantity::kPower, kGraphicsField, kLive)));
}

// What was asked for.
RowColumn wall() {
  constexpr LiveColumn kLive = {9, 0};
  return kept(also_live(kLive, where_any_has(kWallField, power("WALL", kWallField))));
}

// What another idle policy would place on the row, and its power then.
RowColumn policy_power(std::string header, std::string_view name) {
  RowColumn column = kept(where_any_has(name, power(std::move(header), name)));
  column.of_policy = true;
  return column;
}
RowColumn policy_idle() { return policy_power("IDLE", "policyIdleMicrowatts"); }
RowColumn policy_sum() { return policy_power("POWER", "policyPowerMicrowatts"); }

RowColumn name_column(RowColumn column) {
  column.is_name = true;
  return column;
}

// Shown only where there is room for it besides the names.
RowColumn id_column(RowColumn column) {
  column.column.is_id = true;
  return column;
}

RowColumn trend(int from = 110) {
  return only_live({{"TREND", Align::kLeft, Keep::kEnd}, {}, LiveColumn{kTrendWidth, from}});
}

RowColumn state() {
  RowColumn column = text("STATE", "state", LiveColumn{10});
  column.with_ended = true;
  return column;
}

// What the live screen shows only if it is wide leaves a narrow printed table first.
std::vector<RowColumn> with_order(std::vector<RowColumn> columns) {
  constexpr int kFirst = 1000;
  for (RowColumn& column : columns) {
    if (column.column.leaves < 0) column.column.leaves = column.live ? column.live->from : kFirst;
  }
  return columns;
}

}  // namespace

const std::vector<RowColumn>& columns_of(client::Kind kind) {
  constexpr LiveColumn kLast;
  // By client::index_of().
  static const std::array<std::vector<RowColumn>, client::kKinds.size()> kColumns = {{
      // Units, by path, not name: every user has an init.scope.
      with_order({power(), policy_idle(), policy_sum(), wall(), graphics(), energy(), error(), share(),
                  own_energy(), cpu_time(), trend(), state(),
                  name_column(text("UNIT", "id", kLast, Keep::kEnd))}),
      // Virtual machines. The id is the UUID, if there is one.
      with_order({power(), policy_idle(), policy_sum(), wall(), graphics(), energy(), error(), share(),
                  cpu_time(), trend(), state(), vm_name(),
                  where_any_has("vcpus", {{"VCPUS"}, of_field(integer_text, "vcpus")}),
                  text("HYPERVISOR", "hypervisor", LiveColumn{10, 80}), process_id(90),
                  id_column(text("UUID", "id", LiveColumn{36, 145}, Keep::kStart))}),
      // Containers. The id, not the unit: a shortened path keeps its end, but runtimes' tools show the start
      // of ids.
      with_order({power(), policy_idle(), policy_sum(), wall(), graphics(), energy(), error(), share(),
                  cpu_time(), trend(114), state(), text("NAME", "name", LiveColumn{25}, Keep::kStart),
                  text("RUNTIME", "runtime", LiveColumn{10, 80}),
                  where_any_has("podId", id_column(text("POD", "podId", {}, Keep::kStart))),
                  id_column(text("ID", "id", LiveColumn{64, 96}, Keep::kStart))}),
      // Pods.
      with_order({power(), policy_idle(), policy_sum(), wall(), graphics(), energy(), error(), share(),
                  cpu_time(), trend(), state(),
                  text("NAMESPACE", "namespace", LiveColumn{14, 80}, Keep::kStart),
                  text("NAME", "name", LiveColumn{40}, Keep::kStart),
                  id_column(text("UID", "id", LiveColumn{36, 151}, Keep::kStart))}),
      // Processes. The state follows the PID in a printed table, and precedes it on the live screen.
      with_order({power(), wall(), graphics(), energy(48), error(), share(), cpu_time(68), trend(),
                  only_live(state()), process_id(28), only_printed(state()),
                  text("NAME", "name", LiveColumn{16}),
                  text("UNIT", "unit", LiveColumn{0, 100}, Keep::kEnd)}),
      // Zones.
      with_order({power(), power("ACTIVE", "activeMicrowatts", 64), power("IDLE", "idleMicrowatts", 64),
                  energy(), trend(), text("QUALITY", "quality", LiveColumn{9, 72}), in_total(),
                  where_any_has("covers", text("COVERS", "covers", {})),
                  where_any_has("ageUsec", span("AGE", "ageUsec")),
                  where_any_has("lagUsec", span("LAG", "lagUsec")), text("ZONE", "id", kLast),
                  where_any_has("problem", kept(text("PROBLEM", "problem", {}, Keep::kStart)))}),
  }};
  return kColumns[client::index_of(kind)];
}

std::optional<ColumnUnit> unit_of(const RowColumn& column, const std::vector<Json>& rows) {
  if (!column.amount) return std::nullopt;
  std::int64_t largest = 0;
  for (const Json& row : rows) {
    largest = std::max(largest, integer_field(row, column.amount->field).value_or(0));
  }
  return ColumnUnit(column.amount->quantity, largest);
}

std::string cell_text(const RowColumn& column, const std::optional<ColumnUnit>& unit, const Json& row,
                      const Json& host) {
  if (column.text) return column.text(row, host);
  if (!column.amount || !unit) return "";
  const auto value = integer_field(row, column.amount->field);
  return value ? unit->text(*value) : "-";
}

}  // namespace keplerd::cli
