// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/report_json.h"

#include <cmath>
#include <utility>

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

Json problems_json(const std::vector<Problem>& problems) {
  Json list = Json::array();
  for (const Problem& problem : problems) {
    Json one = {{"kind", problem_kind_name(problem.kind)},
                {"what", problem.what},
                {"sinceUsec", problem.since.count()}};
    if (!problem.object.empty()) one["object"] = problem.object;
    list.push_back(std::move(one));
  }
  return list;
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
  if (host.cpu) {
    json["windowCpuUsec"] = to_usec(host.cpu->all);
    json["windowBusyUsec"] = to_usec(host.cpu->busy);
  }
  return json;
}

void set_energy(Json& json, const char* key, const std::optional<Microjoules>& energy) {
  if (energy) json[key] = energy->value;
}

void set_span(Json& json, const char* key, const std::optional<Nanoseconds>& span) {
  if (span) json[key] = to_usec(*span);
}

Json platform_json(const PlatformReport& platform) {
  Json json = {{"id", platform.id},
               {"name", platform.name},
               {"quality", quality_name(platform.quality)},
               {"energyMicrojoules", platform.energy.value}};
  set_power(json, "powerMicrowatts", platform.power);
  set_energy(json, "restMicrojoules", platform.rest);
  set_power(json, "restMicrowatts", platform.rest_power);
  set_power(json, "restErrorMicrowatts", platform.rest_error);
  set_span(json, "ageUsec", platform.age);
  set_span(json, "lagUsec", platform.lag);
  set_energy(json, "earlierMicrojoules", platform.earlier);
  set_energy(json, "earlierRestMicrojoules", platform.earlier_rest);
  return json;
}

Json wall_json(const WallReport& wall) {
  Json json = {{"slope", wall.fit.slope},
               {"offsetMicrowatts", wall.fit.offset.value},
               {"errorPercent", wall.fit.error_percent},
               {"samples", wall.fit.samples}};
  set_power(json, "powerMicrowatts", wall.power);
  return json;
}

Json accounts_json(const AccountsReport& accounts) {
  return {{"idle", accounts.idle.value},
          {"kernel", accounts.kernel.value},
          {"workloads", accounts.workloads.value},
          {"unattributed", accounts.unattributed.value}};
}

Json earlier_json(const EarlierHost& earlier, bool full) {
  Json json = {{"energyMicrojoules", earlier.energy.value},
               {"idleMicrojoules", earlier.idle.value},
               {"discardedWindows", earlier.discarded_windows}};
  if (full) json["accounts"] = accounts_json(earlier.accounts);
  return json;
}

Json source_json(const SourceReport& source) {
  Json json = {{"name", source.name}};
  if (source.quality) json["quality"] = quality_name(*source.quality);
  if (source.reason) json["reason"] = *source.reason;
  return json;
}

// The zones that have a power model.
Json models_json(const std::vector<ZoneModelState>& models) {
  Json zones = Json::array();
  for (const ZoneModelState& zone : models) {
    Json model = {{"state", idle_knowledge_name(zone.knowledge)}};
    if (zone.figures) {
      model["idleMicrowatts"] = zone.figures->idle.value;
      model["idleErrorMicrowatts"] = zone.figures->idle_error.value;
      model["awakeMicrowatts"] = zone.figures->awake.value;
      model["perCoreMicrowatts"] = zone.figures->per_core.value;
      model["gate"] = zone.figures->gate;
      for (const UnclearWorkload& workload : zone.figures->unclear)
        model["unclear"].push_back(
            {{"id", workload.path}, {"errorPercent", std::lround(workload.relative_sd * 100)}});
    }
    zones.push_back({{"id", zone.zone}, {"model", std::move(model)}});
  }
  return zones;
}

}  // namespace

Json beginning_json(const Report& report) {
  Json json = {{"host", host_json(report.host)}};
  if (report.full) json["accounts"] = accounts_json(report.accounts);
  if (report.platform) json["platform"] = platform_json(*report.platform);
  if (report.wall) json["wall"] = wall_json(*report.wall);
  if (report.earlier) json["earlier"] = earlier_json(*report.earlier, report.full);
  json["source"] = source_json(report.source);
  if (!report.problems.empty()) json["problems"] = problems_json(report.problems);
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
  json["split"] = report.rules.split;
  json["share"] = report.rules.share;
  json["idle"] = rule_name(settings.attribution.idle);
  json["intervalUsec"] = to_usec(settings.sampling.interval);
  json["sequence"] = report.sequence;
  json["realtimeUsec"] = report.realtime.count();
  json["monotonicUsec"] = to_usec(report.monotonic);
  json["windowUsec"] = to_usec(report.window);
  json["instanceId"] = report.instance_id;
  json["sinceUsec"] = report.since.count();
  if (report.full) {
    json["outsideOtherMicrojoules"] = report.outside_other.value;
    json["outsideContainersMicrojoules"] = report.outside_containers.value;
  }
  json["discardedWindows"] = report.discarded_windows;
  json["meters"] = meters_json(report.source);
  if (!report.models.empty()) json["zones"] = models_json(report.models);
  json["groupsLeftOut"] = report.groups_left_out;
  json["missedEnds"] = report.missed_ends;
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

}  // namespace keplerd
