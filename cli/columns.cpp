// SPDX-License-Identifier: Apache-2.0
#include "cli/columns.h"

#include <array>
#include <utility>

#include "cli/output/human.h"
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

RowColumn power(std::string header = "POWER", std::string_view name = "powerMicrowatts", int from = 0) {
  return {{std::move(header)}, of_field(power_text, name), LiveColumn{8, from}};
}

RowColumn energy(int from = 32) {
  return {{"ENERGY"}, of_field(energy_text, "energyMicrojoules"), LiveColumn{8, from}};
}

RowColumn own_energy() { return {{"OWN"}, of_field(energy_text, "ownMicrojoules"), LiveColumn{8, 72}}; }

RowColumn share() { return {{"SHARE"}, share_of_host, LiveColumn{6, 56}}; }

RowColumn cpu_time() { return {{"CPU"}, of_field(time_text, "cpuUsec"), LiveColumn{9, 64}}; }

RowColumn process_id(int from) { return {{"PID"}, of_field(integer_text, "pid"), LiveColumn{7, from}}; }

RowColumn in_total() {
  return {{"TOTAL", Align::kLeft}, of_field(yes_no_text, "inTotal"), LiveColumn{5, 72}};
}

RowColumn text(std::string header, std::string_view name, std::optional<LiveColumn> live,
               std::optional<Keep> gives_way = std::nullopt) {
  return {{std::move(header), Align::kLeft, gives_way}, of_field(name_text, name), live};
}

RowColumn vm_name() {
  return {{"NAME", Align::kLeft, Keep::kStart}, of_field(vm_name_text, "name"), LiveColumn{29}};
}

RowColumn only_live(RowColumn column) {
  column.printed = false;
  return column;
}

RowColumn only_printed(RowColumn column) {
  column.live.reset();
  return column;
}

RowColumn where_any_has(std::string_view name, RowColumn column) {
  column.where_any_has = name;
  return only_printed(std::move(column));
}

RowColumn trend(int from = 110) {
  return only_live({{"TREND", Align::kLeft, Keep::kEnd}, {}, LiveColumn{16, from}});
}

RowColumn state() {
  RowColumn column = text("STATE", "state", LiveColumn{10});
  column.with_ended = true;
  return column;
}

}  // namespace

const std::vector<RowColumn>& columns_of(client::Kind kind) {
  constexpr LiveColumn kLast;
  // By client::index_of().
  static const std::array<std::vector<RowColumn>, client::kKinds.size()> kColumns = {{
      // Units, by path, not name: every user has an init.scope.
      {power(), energy(), share(), own_energy(), cpu_time(), trend(), state(),
       text("UNIT", "id", kLast, Keep::kEnd)},
      // Virtual machines. The id is the UUID, if there is one.
      {power(), energy(), share(), cpu_time(), trend(), state(), vm_name(),
       where_any_has("vcpus", {{"VCPUS"}, of_field(integer_text, "vcpus")}),
       text("HYPERVISOR", "hypervisor", LiveColumn{10, 80}), process_id(90),
       text("UUID", "id", LiveColumn{36, 145}, Keep::kStart)},
      // Containers. The id, not the unit: a shortened path keeps its end, but runtimes' tools show the start
      // of ids.
      {power(), energy(), share(), cpu_time(), trend(114), state(),
       text("NAME", "name", LiveColumn{29}, Keep::kStart), text("RUNTIME", "runtime", LiveColumn{10, 80}),
       where_any_has("podId", text("POD", "podId", {}, Keep::kStart)),
       text("ID", "id", LiveColumn{64, 96}, Keep::kStart)},
      // Pods.
      {power(), energy(), share(), cpu_time(), trend(), state(),
       text("NAMESPACE", "namespace", LiveColumn{14, 80}, Keep::kStart),
       text("NAME", "name", LiveColumn{40}, Keep::kStart),
       text("UID", "id", LiveColumn{36, 151}, Keep::kStart)},
      // Processes. The state follows the PID in a printed table, and precedes it on the live screen.
      {power(), energy(48), share(), cpu_time(), trend(), only_live(state()), process_id(28),
       only_printed(state()), text("NAME", "name", LiveColumn{16}),
       text("UNIT", "unit", LiveColumn{0, 72}, Keep::kEnd)},
      // Zones.
      {power(), power("ACTIVE", "activeMicrowatts", 56), power("IDLE", "idleMicrowatts", 56), energy(),
       trend(), text("QUALITY", "quality", LiveColumn{9, 64}), in_total(), text("ZONE", "id", kLast),
       where_any_has("problem", text("PROBLEM", "problem", {}, Keep::kStart))},
  }};
  return kColumns[client::index_of(kind)];
}

}  // namespace keplerd::cli
