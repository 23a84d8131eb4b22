// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/row_kinds.h"

#include <algorithm>
#include <array>
#include <functional>
#include <type_traits>

#include "daemon/publish/report_json.h"
#include "varlink/json.h"

namespace keplerd {
namespace {

// By RowKind.
constexpr std::array<RowKindNames, 6> kNames = {{{"units", "unit", "NoSuchUnit"},
                                                 {"vms", "vm", "NoSuchVirtualMachine"},
                                                 {"containers", "container", "NoSuchContainer"},
                                                 {"pods", "pod", "NoSuchPod"},
                                                 {"processes", "process", "NoSuchProcess"},
                                                 {"zones", "zone", "NoSuchZone"}}};

// Calls `f` with the member of Report that holds the rows of this kind.
template <class F>
auto with_rows(RowKind kind, F f) {
  switch (kind) {
    case RowKind::kUnits:
      return f(&Report::units);
    case RowKind::kVms:
      return f(&Report::vms);
    case RowKind::kContainers:
      return f(&Report::containers);
    case RowKind::kPods:
      return f(&Report::pods);
    case RowKind::kProcesses:
      return f(&Report::processes);
    case RowKind::kZones:
      break;
  }
  return f(&Report::zones);
}

RowKey workload_key(const std::string& id, const std::string& name, const WorkloadRow& row) {
  return {id, {}, name, row.active + row.idle, row.power, row.cpu};
}

RowKey key(const UnitRow& row) { return workload_key(row.info->id, row.info->name, row); }
RowKey key(const VmRow& row) { return workload_key(row.info->id, row.info->name, row); }
RowKey key(const ContainerRow& row) { return workload_key(row.info->id, row.info->name, row); }
RowKey key(const ProcessRow& row) {
  return {{}, row.info->id, row.info->comm, row.active + row.idle, row.power, row.cpu};
}
RowKey key(const ZoneReport& row) {
  return {row.zone.id, {}, row.zone.name, row.energy, row.power, Nanoseconds{0}};
}

bool share_changed(const ZoneShare& a, const ZoneShare& b) {
  return a.energy != b.energy || a.power != b.power;
}

bool workload_changed(const WorkloadRow& a, const WorkloadRow& b) {
  return a.running != b.running || a.owner != b.owner || a.active != b.active || a.idle != b.idle ||
         a.power != b.power || a.cpu != b.cpu || a.since != b.since ||
         !std::ranges::equal(a.zones, b.zones, std::not_fn(share_changed));
}

bool changed(const UnitRow& a, const UnitRow& b) {
  return workload_changed(a, b) || a.own != b.own || a.other != b.other;
}

bool changed(const VmRow& a, const VmRow& b) {
  return workload_changed(a, b) || a.info != b.info || a.halt_polling != b.halt_polling;
}

bool changed(const ContainerRow& a, const ContainerRow& b) {
  return workload_changed(a, b) || a.info != b.info || a.own != b.own || a.other != b.other ||
         a.in_parent != b.in_parent;
}

bool changed(const ProcessRow& a, const ProcessRow& b) {
  return workload_changed(a, b) || a.info != b.info || a.unit != b.unit || a.container != b.container ||
         a.vm != b.vm || a.in_unit != b.in_unit;
}

bool changed(const ZoneReport& a, const ZoneReport& b) {
  return a.current != b.current || a.energy != b.energy || a.idle != b.idle || a.power != b.power ||
         a.idle_power != b.idle_power || a.problem != b.problem;
}

}  // namespace

std::optional<RowKind> parse_row_kind(std::string_view name) {
  for (const std::string_view vms :
       {"virtualMachines", "virtualMachine", "virtual-machines", "virtual-machine"}) {
    if (name == vms) return RowKind::kVms;
  }
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i].plural || name == kNames[i].singular) return static_cast<RowKind>(i);
  }
  return std::nullopt;
}

const RowKindNames& row_kind_names(RowKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

std::string RowKey::id_text() const { return process ? process_id_text(*process) : std::string(id); }

std::size_t row_count(const Report& report, RowKind kind) {
  return with_rows(kind, [&](auto rows) { return (report.*rows).size(); });
}

RowKey row_key(const Report& report, RowKind kind, std::size_t index) {
  return with_rows(kind, [&](auto rows) { return key((report.*rows)[index]); });
}

varlink::Json row_json(const Report& report, RowKind kind, std::size_t index) {
  return with_rows(kind, [&](auto rows) { return row_json(report, (report.*rows)[index]); });
}

std::strong_ordering compare_rows(const Report& a, std::size_t i, const Report& b, std::size_t j,
                                  RowKind kind) {
  if (kind == RowKind::kZones) return i <=> j;  // zones are only ever added at the end
  if (kind == RowKind::kProcesses) return a.processes[i].info->id <=> b.processes[j].info->id;
  return row_key(a, kind, i).id <=> row_key(b, kind, j).id;
}

bool row_changed(const Report& a, std::size_t i, const Report& b, std::size_t j, RowKind kind) {
  return with_rows(kind, [&](auto rows) { return changed((a.*rows)[i], (b.*rows)[j]); });
}

}  // namespace keplerd
