// SPDX-License-Identifier: Apache-2.0
#include "report/row_kinds.h"

#include <array>

#include "report/fields.h"

namespace keplerd {
namespace {

// By RowKind.
constexpr std::array<RowKindNames, 6> kNames = {{{"units", "unit", "NoSuchUnit"},
                                                 {"vms", "vm", "NoSuchVirtualMachine"},
                                                 {"containers", "container", "NoSuchContainer"},
                                                 {"pods", "pod", "NoSuchPod"},
                                                 {"processes", "process", "NoSuchProcess"},
                                                 {"zones", "zone", "NoSuchZone"}}};

RowKey workload_key(const std::string& id, const std::string& name, const WorkloadRow& row) {
  return {id, {}, name, row.active + row.idle, row.power, row.cpu};
}

RowKey key(const UnitRow& row) { return workload_key(row.info->id, row.info->name, row); }
RowKey key(const VmRow& row) { return workload_key(row.info->id, row.info->name, row); }
RowKey key(const ContainerRow& row) { return workload_key(row.info->id, row.info->name, row); }
RowKey key(const ProcessRow& row) {
  return {{}, row.info->id, row.info->comm, row.active + row.idle, row.power, row.cpu};
}
RowKey key(const ZoneRow& row) {
  return {row.zone.id, {}, row.zone.name, row.energy, row.power, Nanoseconds{0}};
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

std::size_t row_count(const ReportView& view, RowKind kind) {
  return with_rows(kind, [&](auto rows_of) { return rows_of(view).size(); });
}

RowKey row_key(const ReportView& view, RowKind kind, std::size_t index) {
  return with_rows(kind, [&](auto rows_of) { return key(rows_of(view)[index]); });
}

std::strong_ordering compare_rows(const ReportView& a, std::size_t i, const ReportView& b, std::size_t j,
                                  RowKind kind) {
  return with_rows(kind, [&](auto rows_of) -> std::strong_ordering {
    const auto &first = rows_of(a)[i], &second = rows_of(b)[j];
    if constexpr (requires { compare_workloads(first, second); }) {
      return compare_workloads(first, second);
    } else {
      return i <=> j;  // zones are only ever added at the end
    }
  });
}

bool row_changed(const ReportView& a, std::size_t i, const ReportView& b, std::size_t j, RowKind kind) {
  return with_rows(
      kind, [&](auto rows_of) { return row_differs(*a.report, rows_of(a)[i], *b.report, rows_of(b)[j]); });
}

}  // namespace keplerd
