// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/report_json.h"

#include "varlink/json.h"

namespace keplerd {
namespace {

using varlink::Json;

void set_power(Json& json, const char* key, const std::optional<Microwatts>& power) {
  if (power) json[key] = power->value;
}

void set_text(Json& json, const char* key, const std::optional<std::string>& text) {
  if (text) json[key] = *text;
}

Json shares_json(const Report& report, const WorkloadRow& row) {
  Json shares = Json::array();
  for (std::size_t i = 0; i < row.zones.size(); ++i) {
    const Zone& zone = report.zones[i].zone;
    Json share = {{"id", zone.id},
                  {"name", zone.name},
                  {"index", zone.index},
                  {"energyMicrojoules", row.zones[i].energy.value}};
    set_power(share, "powerMicrowatts", row.zones[i].power);
    shares.push_back(std::move(share));
  }
  return shares;
}

// What all kinds of workloads have.
Json workload_json(const Report& report, const WorkloadRow& row, const std::string& id,
                   const std::string& name, std::string_view kind) {
  Json json = {{"id", id},
               {"name", name},
               {"kind", kind},
               {"state", row.running ? "running" : "terminated"},
               {"energyMicrojoules", (row.active + row.idle).value},
               {"activeMicrojoules", row.active.value},
               {"idleMicrojoules", row.idle.value}};
  set_power(json, "powerMicrowatts", row.power);
  json["cpuUsec"] = to_usec(row.cpu);
  if (report.full) json["zones"] = shares_json(report, row);
  json["quality"] = quality_name(report.workload_quality);
  json["sinceUsec"] = row.since.count();
  if (row.owner) json["ownerUid"] = *row.owner;
  return json;
}

Json refused_claims_json(const std::vector<RefusedClaim>& claims) {
  Json json = Json::array();
  for (const RefusedClaim& claim : claims) {
    Json one = {{"kind", claim.kind},
                {"id", claim.id},
                {"ownerUid", claim.owner},
                {"count", claim.count},
                {"realtimeUsec", claim.at.count()}};
    if (!claim.container.empty()) one["containerId"] = claim.container;
    json.push_back(std::move(one));
  }
  return json;
}

Json meters_json(const SourceReport& source) {
  Json meters = Json::array();
  for (const SourceProbe& probe : source.tried) {
    Json meter = {{"name", probe.name}, {"inUse", probe.name == source.name}, {"usable", probe.usable}};
    if (!probe.reason.empty()) meter["reason"] = probe.reason;
    if (!probe.fix.empty()) meter["fix"] = probe.fix;
    meter["zones"] = probe.zones;
    meters.push_back(std::move(meter));
  }
  return meters;
}

Json host_json(const HostReport& host) {
  Json json = {{"energyMicrojoules", host.energy.value},
               {"activeMicrojoules", host.active.value},
               {"idleMicrojoules", host.idle.value}};
  set_power(json, "powerMicrowatts", host.power);
  set_power(json, "activeMicrowatts", host.active_power);
  set_power(json, "idleMicrowatts", host.idle_power);
  return json;
}

Json accounts_json(const AccountsReport& accounts) {
  return {{"idle", accounts.idle.value},
          {"kernel", accounts.kernel.value},
          {"workloads", accounts.workloads.value},
          {"unattributed", accounts.unattributed.value}};
}

Json source_json(const SourceReport& source) {
  Json json = {{"name", source.name}};
  if (source.quality) json["quality"] = quality_name(*source.quality);
  if (source.reason) json["reason"] = *source.reason;
  return json;
}

}  // namespace

Json beginning_json(const Report& report) {
  Json json = {{"host", host_json(report.host)}};
  if (report.full) json["accounts"] = accounts_json(report.accounts);
  json["source"] = source_json(report.source);
  return json;
}

Json event_json(const VmEvent& event) {
  Json json = {
      {"realtimeUsec", event.at.count()}, {"id", event.id}, {"name", event.name}, {"event", event.event}};
  set_text(json, "reason", event.reason);
  return json;
}

Json status_json(const Report& report, const Settings& settings) {
  Json json = beginning_json(report);
  json["split"] = rule_name(settings.attribution.split);
  json["share"] = rule_name(settings.attribution.share);
  json["idle"] = rule_name(settings.attribution.idle);
  json["intervalUsec"] = to_usec(settings.sampling.interval);
  json["sequence"] = report.sequence;
  json["realtimeUsec"] = report.realtime.count();
  json["monotonicUsec"] = to_usec(report.monotonic);
  json["windowUsec"] = to_usec(report.window);
  json["instanceId"] = report.instance_id;
  json["sinceUsec"] = report.since.count();
  if (report.full) json["outsideOtherMicrojoules"] = report.outside_other.value;
  json["discardedWindows"] = report.discarded_windows;
  json["meters"] = meters_json(report.source);
  json["groupsLeftOut"] = report.groups_left_out;
  json["processesLeftOut"] = report.processes_left_out;
  if (report.full && report.refused_claims)
    json["refusedClaims"] = refused_claims_json(*report.refused_claims);
  const OwnCost& cost = report.own_cost;
  json["daemonCpuUsec"] = to_usec(cost.cpu);
  json["daemonWindowCpuUsec"] = to_usec(cost.window_cpu);
  if (cost.memory) json["daemonMemoryBytes"] = *cost.memory;
  if (cost.energy) json["daemonMicrojoules"] = cost.energy->value;
  set_power(json, "daemonMicrowatts", cost.power);
  return json;
}

Json row_json(const Report&, const ZoneReport& zone) {
  Json json = {{"id", zone.zone.id},
               {"name", zone.zone.name},
               {"kind", "zone"},
               {"state", zone.current ? "running" : "terminated"},
               {"index", zone.zone.index},
               {"quality", quality_name(zone.zone.quality)},
               {"inTotal", zone.zone.in_total},
               {"energyMicrojoules", zone.energy.value},
               {"activeMicrojoules", zone.active.value},
               {"idleMicrojoules", zone.idle.value}};
  set_power(json, "powerMicrowatts", zone.power);
  set_power(json, "activeMicrowatts", zone.active_power);
  set_power(json, "idleMicrowatts", zone.idle_power);
  if (zone.problem) json["problem"] = *zone.problem;
  if (!zone.zone.quality_reason.empty()) json["qualityReason"] = zone.zone.quality_reason;
  json["sinceUsec"] = zone.since.count();
  return json;
}

Json row_json(const Report& report, const UnitRow& unit) {
  Json json =
      workload_json(report, unit, unit.info->id, unit.info->name, unit.info->is_unit ? "unit" : "group");
  if (unit.info->parent) json["parent"] = *unit.info->parent;
  json["ownMicrojoules"] = unit.own.value;
  json["otherMicrojoules"] = unit.other.value;
  return json;
}

Json row_json(const Report& report, const VmRow& vm) {
  const VmInfo& info = *vm.info;
  Json json = workload_json(report, vm, info.id, info.name, "virtual-machine");
  json["hypervisor"] = info.hypervisor;
  set_text(json, "uuid", info.uuid);
  json["pid"] = info.pid;
  set_text(json, "unit", info.unit);
  set_text(json, "containerId", info.container);
  if (info.guest_elsewhere) json["guestElsewhere"] = true;
  if (info.vcpus) json["vcpus"] = *info.vcpus;
  if (!info.title.empty()) json["title"] = info.title;
  if (!info.guest_state.empty()) json["guestState"] = info.guest_state;
  if (!info.metadata.empty()) json["metadata"] = info.metadata;
  if (vm.halt_polling) json["haltPollUsec"] = to_usec(*vm.halt_polling);
  if (vm.parts.empty()) return json;
  json["breakdown"] = Json::array();
  for (const VmPart& part : vm.parts)
    json["breakdown"].push_back({{"name", part.name}, {"energyMicrojoules", part.energy.value}});
  return json;
}

Json row_json(const Report& report, const ContainerRow& container) {
  const ContainerInfo& info = *container.info;
  Json json = workload_json(report, container, info.id, info.name, info.is_pod ? "pod" : "container");
  set_text(json, "parent", info.parent);
  json["ownMicrojoules"] = container.own.value;
  json["otherMicrojoules"] = container.other.value;
  if (info.parent) json["parentMicrojoules"] = container.in_parent.value;
  json["runtime"] = info.runtime;
  set_text(json, "podId", info.pod);
  if (!info.name_space.empty()) json["namespace"] = info.name_space;
  json["unit"] = info.unit;
  if (!info.uuid.empty()) json["uuid"] = info.uuid;
  if (!info.title.empty()) json["title"] = info.title;
  if (!info.guest_state.empty()) json["guestState"] = info.guest_state;
  return json;
}

Json row_json(const Report& report, const ProcessRow& process) {
  Json json =
      workload_json(report, process, process_id_text(process.info->id), process.info->comm, "process");
  json["pid"] = process.info->id.pid;
  json["comm"] = process.info->comm;
  if (process.unit) json["unit"] = process.unit->id;
  if (process.container) json["containerId"] = process.container->id;
  if (process.vm) json["virtualMachineId"] = process.vm->id;
  json["unitMicrojoules"] = process.in_unit.value;
  return json;
}

}  // namespace keplerd
