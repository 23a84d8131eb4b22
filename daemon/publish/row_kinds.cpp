// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/row_kinds.h"

#include <algorithm>
#include <array>
#include <utility>

#include "daemon/publish/report_json.h"

namespace keplerd {
namespace {

constexpr std::array<std::pair<std::string_view, RowKind>, 6> kNames = {{{"units", RowKind::kUnits},
                                                                         {"unit", RowKind::kUnits},
                                                                         {"processes", RowKind::kProcesses},
                                                                         {"process", RowKind::kProcesses},
                                                                         {"zones", RowKind::kZones},
                                                                         {"zone", RowKind::kZones}}};

bool share_changed(const ZoneShare& a, const ZoneShare& b) {
  return a.energy != b.energy || a.power != b.power;
}

bool workload_changed(const WorkloadRow& a, const WorkloadRow& b) {
  return a.running != b.running || a.active != b.active || a.idle != b.idle || a.power != b.power ||
         a.cpu != b.cpu || a.since != b.since ||
         !std::ranges::equal(a.zones, b.zones, std::not_fn(share_changed));
}

}  // namespace

std::optional<RowKind> parse_row_kind(std::string_view name) {
  for (const auto& [known, kind] : kNames) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

std::size_t row_count(const Report& report, RowKind kind) {
  switch (kind) {
    case RowKind::kUnits:
      return report.units.size();
    case RowKind::kProcesses:
      return report.processes.size();
    case RowKind::kZones:
      return report.zones.size();
  }
  return 0;
}

RowKey row_key(const Report& report, RowKind kind, std::size_t index) {
  const auto of_workload = [](const std::string& id, const std::string& name, const WorkloadRow& row) {
    return RowKey{id, name, row.active + row.idle, row.power, row.cpu};
  };
  switch (kind) {
    case RowKind::kUnits: {
      const UnitRow& unit = report.units[index];
      return of_workload(unit.info->id, unit.info->name, unit);
    }
    case RowKind::kProcesses: {
      const ProcessRow& process = report.processes[index];
      return of_workload(process.info->id_text, process.info->comm, process);
    }
    case RowKind::kZones: {
      const ZoneReport& zone = report.zones[index];
      return {zone.zone.id, zone.zone.name, zone.energy, zone.power, Nanoseconds{0}};
    }
  }
  return {};
}

varlink::Json row_json(const Report& report, RowKind kind, std::size_t index) {
  switch (kind) {
    case RowKind::kUnits:
      return row_json(report, report.units[index]);
    case RowKind::kProcesses:
      return row_json(report, report.processes[index]);
    case RowKind::kZones:
      return row_json(report, report.zones[index]);
  }
  return {};
}

std::strong_ordering compare_rows(const Report& a, std::size_t i, const Report& b, std::size_t j,
                                  RowKind kind) {
  switch (kind) {
    case RowKind::kUnits:
      return a.units[i].info->id <=> b.units[j].info->id;
    case RowKind::kProcesses:
      return a.processes[i].info->id <=> b.processes[j].info->id;
    case RowKind::kZones:
      return i <=> j;  // zones are only ever added at the end
  }
  return std::strong_ordering::equal;
}

bool row_changed(const Report& a, std::size_t i, const Report& b, std::size_t j, RowKind kind) {
  switch (kind) {
    case RowKind::kUnits: {
      const UnitRow &x = a.units[i], &y = b.units[j];
      return workload_changed(x, y) || x.own != y.own || x.other != y.other;
    }
    case RowKind::kProcesses: {
      const ProcessRow &x = a.processes[i], &y = b.processes[j];
      return workload_changed(x, y) || x.info != y.info || x.unit != y.unit || x.in_unit != y.in_unit;
    }
    case RowKind::kZones: {
      const ZoneReport &x = a.zones[i], &y = b.zones[j];
      return x.current != y.current || x.energy != y.energy || x.idle != y.idle || x.power != y.power ||
             x.idle_power != y.idle_power || x.problem != y.problem;
    }
  }
  return true;
}

}  // namespace keplerd
