// SPDX-License-Identifier: Apache-2.0
// A run as JSON. What is not known is absent.
#include "cli/run/report.h"
#include "varlink/json.h"

namespace keplerd::cli::run {
namespace {

void set(Json& object, const char* name, const std::optional<Microjoules>& energy) {
  if (energy) object[name] = energy->value;
}

void set(Json& object, const char* name, const std::optional<Microwatts>& power) {
  if (power) object[name] = power->value;
}

void set_cost(Json& object, const Rates& rates, Microjoules energy) {
  if (rates.price) {
    object["costMicro"] = cost_of(energy, *rates.price).value;
    object["currency"] = rates.currency;
  }
  if (rates.carbon) object["milligramsCO2e"] = carbon_of(energy, *rates.carbon).value;
}

Json zones_json(const std::vector<Part>& zones) {
  Json list = Json::array();
  for (const Part& zone : zones)
    list.push_back({{"id", zone.name}, {"energyMicrojoules", zone.energy.value}});
  return list;
}

Json programs_json(const std::vector<Part>& programs) {
  Json list = Json::array();
  for (const Part& program : programs) {
    list.push_back({{"comm", program.name},
                    {"energyMicrojoules", program.energy.value},
                    {"cpuUsec", program.cpu.count()}});
  }
  return list;
}

Json attached_json(const Attached& attached) {
  Json json = {{"kind", attached.kind}, {"id", attached.id}};
  if (attached.ended) json["ended"] = true;
  return json;
}

}  // namespace

Json report_json(const Report& report) {
  Json json = Json::object();
  if (report.attached) {
    json["attached"] = attached_json(*report.attached);
  } else {
    json["command"] = report.command;
  }
  if (!report.label.empty()) json["label"] = report.label;
  if (!report.attached) json["exitStatus"] = report.exit_status;
  set(json, "energyMicrojoules", report.energy);
  set(json, "activeMicrojoules", report.active);
  set(json, "idleMicrojoules", report.idle);
  set(json, "errorMicrojoules", report.error);
  set(json, "meanMicrowatts", report.mean_power);
  set(json, "peakMicrowatts", report.peak_power);
  json["durationUsec"] = report.duration.count();
  if (report.cpu) json["cpuUsec"] = report.cpu->count();
  set(json, "hostIdleMicrojoules", report.host_idle);
  set(json, "hostActiveMicrojoules", report.host_active);
  if (report.energy) {
    set_cost(json, report.rates, *report.energy);
    if (!report.zones.empty()) json["zones"] = zones_json(report.zones);
    if (!report.attached) json["processes"] = programs_json(report.programs);
    set(json, "otherMicrojoules", report.other);
    json["resolutionMicrojoules"] = report.resolution.value;
  }
  if (!report.still_running.empty()) json["stillRunning"] = report.still_running;
  if (report.source.is_object()) json["source"] = report.source;
  if (!report.problem.empty()) json["problem"] = report.problem;
  return json;
}

}  // namespace keplerd::cli::run
