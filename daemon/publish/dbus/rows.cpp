// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/rows.h"

namespace keplerd::dbus {
namespace {

using Details = std::map<std::string, sdbus::Variant>;

void set_text(Details& details, const char* key, const std::string& text) {
  details.emplace(key, sdbus::Variant(text));
}

void set_text(Details& details, const char* key, const std::optional<std::string>& text) {
  if (text) set_text(details, key, *text);
}

void set_number(Details& details, const char* key, std::uint64_t number) {
  if (number != kUnknown) details.emplace(key, sdbus::Variant(number));
}

// What all kinds of workloads have.
Details workload_details(const Report& report, const WorkloadRow& row, const char* kind) {
  Details details;
  set_text(details, "kind", std::string(kind));
  set_text(details, "quality", std::string(quality_name(report.workload_quality)));
  set_number(details, "sinceUsec", number(row.since));
  if (row.owner) details.emplace("ownerUid", sdbus::Variant(*row.owner));
  if (report.full) details.emplace("zones", sdbus::Variant(zone_parts(report, row)));
  return details;
}

Details details_of(const Report& report, const UnitRow& row) {
  Details details = workload_details(report, row, row.info->is_unit ? "unit" : "group");
  set_text(details, "parent", row.info->parent);
  set_number(details, "ownMicrojoules", number(row.own));
  set_number(details, "otherMicrojoules", number(row.other));
  return details;
}

Details details_of(const Report& report, const VmRow& row) {
  Details details = workload_details(report, row, "virtual-machine");
  set_text(details, "hypervisor", row.info->hypervisor);
  set_text(details, "uuid", row.info->uuid);
  details.emplace("pid", sdbus::Variant(static_cast<std::uint32_t>(row.info->pid)));
  set_text(details, "unit", row.info->unit);
  set_text(details, "containerId", row.info->container);
  if (row.info->guest_elsewhere) details.emplace("guestElsewhere", sdbus::Variant(true));
  if (row.info->vcpus) details.emplace("vcpus", sdbus::Variant(static_cast<std::uint32_t>(*row.info->vcpus)));
  if (!row.info->title.empty()) set_text(details, "title", row.info->title);
  if (!row.info->guest_state.empty()) set_text(details, "guestState", row.info->guest_state);
  if (!row.info->metadata.empty()) details.emplace("metadata", sdbus::Variant(metadata_of(row)));
  if (row.halt_polling) set_number(details, "haltPollUsec", usec(*row.halt_polling));
  if (!row.parts.empty()) details.emplace("breakdown", sdbus::Variant(vm_parts(row)));
  return details;
}

Details details_of(const Report& report, const ContainerRow& row) {
  Details details = workload_details(report, row, row.info->is_pod ? "pod" : "container");
  set_text(details, "parent", row.info->parent);
  set_number(details, "ownMicrojoules", number(row.own));
  set_number(details, "otherMicrojoules", number(row.other));
  if (row.info->parent) set_number(details, "parentMicrojoules", number(row.in_parent));
  set_text(details, "runtime", row.info->runtime);
  set_text(details, "podId", row.info->pod);
  if (!row.info->name_space.empty()) set_text(details, "namespace", row.info->name_space);
  set_text(details, "unit", row.info->unit);
  if (!row.info->uuid.empty()) set_text(details, "uuid", row.info->uuid);
  if (!row.info->title.empty()) set_text(details, "title", row.info->title);
  if (!row.info->guest_state.empty()) set_text(details, "guestState", row.info->guest_state);
  return details;
}

Details details_of(const Report& report, const ProcessRow& row) {
  Details details = workload_details(report, row, "process");
  details.emplace("pid", sdbus::Variant(static_cast<std::uint32_t>(row.info->id.pid)));
  set_text(details, "comm", row.info->comm);
  if (row.unit) set_text(details, "unit", row.unit->id);
  if (row.container) set_text(details, "containerId", row.container->id);
  if (row.vm) set_text(details, "virtualMachineId", row.vm->id);
  set_number(details, "unitMicrojoules", number(row.in_unit));
  return details;
}

Details details_of(const ZoneReport& row) {
  Details details;
  set_text(details, "kind", std::string("zone"));
  set_text(details, "quality", std::string(quality_name(row.zone.quality)));
  set_number(details, "sinceUsec", number(row.since));
  details.emplace("index", sdbus::Variant(static_cast<std::int32_t>(row.zone.index)));
  details.emplace("inTotal", sdbus::Variant(row.zone.in_total));
  set_text(details, "problem", row.problem);
  set_number(details, "activeMicrowatts", number(row.active_power));
  set_number(details, "idleMicrowatts", number(row.idle_power));
  return details;
}

Row workload_row(const WorkloadRow& row, const std::string& id, const std::string& name, Details details) {
  return Row{id,
             name,
             state_name(row.running),
             number(row.active + row.idle),
             number(row.active),
             number(row.idle),
             number(row.power),
             usec(row.cpu),
             std::move(details)};
}

template <class T>
Details details_if(bool wanted, const Report& report, const T& row) {
  return wanted ? details_of(report, row) : Details();
}

Row zone_row(const ZoneReport& row, bool details) {
  return Row{row.zone.id,        row.zone.name,      state_name(row.current),
             number(row.energy), number(row.active), number(row.idle),
             number(row.power),  kUnknown,           details ? details_of(row) : Details()};
}

Row container_row(const Report& report, const ContainerRow& row, bool details) {
  return workload_row(row, row.info->id, row.info->name, details_if(details, report, row));
}

}  // namespace

std::map<std::string, std::string> metadata_of(const VmRow& row) {
  return {row.info->metadata.begin(), row.info->metadata.end()};
}

std::vector<EventRow> event_rows(std::span<const VmEvent> events) {
  std::vector<EventRow> rows;
  for (const VmEvent& event : events)
    rows.emplace_back(number(event.at), event.id, event.name, event.event, event.reason.value_or(""));
  return rows;
}

std::vector<VmPartNumbers> vm_parts(const VmRow& row) {
  std::vector<VmPartNumbers> parts;
  for (const VmPart& part : row.parts) parts.emplace_back(part.name, number(part.energy));
  return parts;
}

HostNumbers host_numbers(const HostReport& host) {
  return HostNumbers{number(host.energy), number(host.active),       number(host.idle),
                     number(host.power),  number(host.active_power), number(host.idle_power)};
}

AccountNumbers account_numbers(const Report& report) {
  if (!report.full) return AccountNumbers{kUnknown, kUnknown, kUnknown, kUnknown};
  const AccountsReport& accounts = report.accounts;
  return AccountNumbers{number(accounts.idle), number(accounts.kernel), number(accounts.workloads),
                        number(accounts.unattributed)};
}

std::vector<ZonePart> zone_parts(const Report& report, const WorkloadRow& row) {
  std::vector<ZonePart> parts;
  for (std::size_t i = 0; i < row.zones.size(); ++i) {
    const Zone& zone = report.zones[i].zone;
    parts.emplace_back(zone.id, zone.name, number(row.zones[i].energy), number(row.zones[i].power));
  }
  return parts;
}

Row make_row(const Report& report, RowKind kind, std::size_t index, bool details) {
  switch (kind) {
    case RowKind::kUnits: {
      const UnitRow& row = report.units[index];
      return workload_row(row, row.info->id, row.info->name, details_if(details, report, row));
    }
    case RowKind::kVms: {
      const VmRow& row = report.vms[index];
      return workload_row(row, row.info->id, row.info->name, details_if(details, report, row));
    }
    case RowKind::kContainers:
      return container_row(report, report.containers[index], details);
    case RowKind::kPods:
      return container_row(report, report.pods[index], details);
    case RowKind::kProcesses: {
      const ProcessRow& row = report.processes[index];
      return workload_row(row, process_id_text(row.info->id), row.info->comm,
                          details_if(details, report, row));
    }
    case RowKind::kZones:
      break;
  }
  return zone_row(report.zones[index], details);
}

std::vector<KindRows> make_rows(const Changes& changes, bool details) {
  std::vector<KindRows> kinds;
  for (const KindChanges& kind : changes.kinds) {
    std::vector<Row> rows;
    rows.reserve(kind.rows.size());
    for (const std::size_t row : kind.rows)
      rows.push_back(make_row(*changes.report, kind.kind, row, details));
    kinds.emplace_back(std::string(row_kind_names(kind.kind).plural), std::move(rows), kind.removed);
  }
  return kinds;
}

// Without details: the numbers, and what frames the texts. Details repeat ids, and name every zone: each is
// counted as its text and what frames it.
std::size_t size_on_bus(const Row& row) {
  std::size_t size = 80 + std::get<0>(row).size() + std::get<1>(row).size();
  for (const auto& [key, value] : std::get<8>(row)) {
    size += 32 + key.size();
    if (value.containsValueOfType<std::string>()) size += value.get<std::string>().size();
    if (key == "zones") size += 64 * value.get<std::vector<ZonePart>>().size();
  }
  return size;
}

}  // namespace keplerd::dbus
