// SPDX-License-Identifier: Apache-2.0
#include "ledger/state.h"

#include <array>
#include <limits>
#include <map>

#include <nlohmann/json.hpp>

namespace keplerd {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr std::array kQualities = {Quality::kMeasured, Quality::kModelled, Quality::kEstimated,
                                   Quality::kSimulated};

// Thrown by the readers below and caught in parse_state, as nlohmann's own exceptions are.
struct Malformed {
  std::string what;
};

std::int64_t number(const Json& object, const char* key) {
  const Json& value = object.at(key);
  // Bounded so that no sum of these overflows; 2^60 uJ are 36 years at 1 kW.
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0 || value.get<std::int64_t>() > kMost) {
    throw Malformed{std::string(key) + " is not a number in range"};
  }
  return value.get<std::int64_t>();
}

Microjoules energy(const Json& object, const char* key) { return {number(object, key)}; }
Realtime realtime(const Json& object, const char* key) { return Realtime(number(object, key)); }

Quality parse_quality(const std::string& text) {
  for (const Quality quality : kQualities) {
    if (text == quality_name(quality)) return quality;
  }
  throw Malformed{"unknown quality '" + text + "'"};
}

Json to_json(const ZoneState& zone) {
  return {{"id", zone.id},
          {"name", zone.name},
          {"index", zone.index},
          {"quality", quality_name(zone.quality)},
          {"inTotal", zone.in_total},
          {"energyMicrojoules", zone.energy.value},
          {"idleMicrojoules", zone.idle.value},
          {"kernelMicrojoules", zone.kernel.value},
          {"unattributedMicrojoules", zone.unattributed.value},
          {"sinceUsec", zone.since.count()}};
}

ZoneState to_zone(const Json& json) {
  ZoneState zone{.id = json.at("id"),
                 .name = json.at("name"),
                 .index = json.at("index"),
                 .quality = parse_quality(json.at("quality")),
                 .in_total = json.at("inTotal"),
                 .energy = energy(json, "energyMicrojoules"),
                 .idle = energy(json, "idleMicrojoules"),
                 .kernel = energy(json, "kernelMicrojoules"),
                 .unattributed = energy(json, "unattributedMicrojoules"),
                 .since = realtime(json, "sinceUsec")};
  if (zone.idle + zone.kernel + zone.unattributed > zone.energy) throw Malformed{"a zone's parts exceed it"};
  return zone;
}

Json to_json(const UnitState& unit) {
  Json energies = Json::array();
  for (const Microjoules zone : unit.energy) energies.push_back(zone.value);
  Json json = {{"id", unit.id},
               {"energyMicrojoules", std::move(energies)},
               {"ownMicrojoules", unit.own.value},
               {"cpuNsec", unit.cpu.count()},
               {"sinceUsec", unit.since.count()}};
  if (unit.ended) json["endedUsec"] = unit.ended->count();
  return json;
}

UnitState to_unit(const Json& json, std::size_t zones) {
  UnitState unit{.id = json.at("id"),
                 .energy = {},
                 .own = energy(json, "ownMicrojoules"),
                 .cpu = Nanoseconds(number(json, "cpuNsec")),
                 .since = realtime(json, "sinceUsec"),
                 .ended = std::nullopt};
  if (unit.id.empty() || unit.id[0] != '/') throw Malformed{"a unit's id is not a path"};
  if (json.contains("endedUsec")) unit.ended = realtime(json, "endedUsec");
  const Json& energies = json.at("energyMicrojoules");
  if (!energies.is_array() || energies.size() > zones)
    throw Malformed{"a unit has more zones than there are"};
  for (const Json& value : energies)
    unit.energy.push_back(energy(Json{{"energyMicrojoules", value}}, "energyMicrojoules"));
  return unit;
}

Json to_json(const SavedReading& reading) {
  return {{"zone", reading.zone},
          {"counterMicrojoules", reading.counter.value},
          {"monotonicNsec", reading.monotonic.count()},
          {"boottimeNsec", reading.boottime.count()}};
}

SavedReading to_reading(const Json& json) {
  return {.zone = json.at("zone"),
          .counter = energy(json, "counterMicrojoules"),
          .monotonic = Nanoseconds(number(json, "monotonicNsec")),
          .boottime = Nanoseconds(number(json, "boottimeNsec"))};
}

// Every unit is its own and its children, and all own together is no more than what the zones gave to
// workloads.
void check_sums(const LedgerState& state) {
  Microjoules workloads;
  for (const ZoneState& zone : state.zones) {
    if (zone.in_total) workloads += zone.energy - zone.idle - zone.kernel - zone.unattributed;
  }
  std::map<std::string_view, Microjoules> rest;  // of a unit's energy, what nobody accounts for yet
  Microjoules own = state.outside_other;
  for (const UnitState& unit : state.units) {
    Microjoules total;
    for (std::size_t zone = 0; zone < unit.energy.size(); ++zone) {
      if (state.zones[zone].in_total) total += unit.energy[zone];
    }
    if (!rest.emplace(unit.id, total - unit.own).second) throw Malformed{"a unit is there twice"};
    own += unit.own;
    const auto parent = rest.find(std::string_view(unit.id).substr(0, unit.id.rfind('/')));
    if (parent != rest.end()) parent->second -= total;
  }
  for (const auto& [id, left] : rest) {
    if (left != Microjoules{}) throw Malformed{"the sums of unit " + std::string(id) + " do not hold"};
  }
  if (own != workloads) throw Malformed{"the units' energies do not add up to the host's"};
}

LedgerState to_state(const Json& json) {
  if (json.at("version") != kVersion) throw Malformed{"written by another version"};
  LedgerState state{.instance_id = json.at("instanceId"),
                    .since = realtime(json, "sinceUsec"),
                    .saved = realtime(json, "savedUsec"),
                    .clean = json.at("clean"),
                    .boot_id = json.at("bootId"),
                    .discarded_windows = static_cast<std::uint64_t>(number(json, "discardedWindows")),
                    .outside_other = energy(json, "outsideOtherMicrojoules"),
                    .zones = {},
                    .units = {},
                    .readings = {}};
  for (const Json& zone : json.at("zones")) state.zones.push_back(to_zone(zone));
  for (const Json& unit : json.at("units")) state.units.push_back(to_unit(unit, state.zones.size()));
  for (const Json& reading : json.at("readings")) state.readings.push_back(to_reading(reading));
  check_sums(state);
  return state;
}

}  // namespace

std::string format_state(const LedgerState& state) {
  Json json = {{"version", kVersion},
               {"instanceId", state.instance_id},
               {"sinceUsec", state.since.count()},
               {"savedUsec", state.saved.count()},
               {"clean", state.clean},
               {"bootId", state.boot_id},
               {"discardedWindows", state.discarded_windows},
               {"outsideOtherMicrojoules", state.outside_other.value},
               {"zones", Json::array()},
               {"units", Json::array()},
               {"readings", Json::array()}};
  for (const ZoneState& zone : state.zones) json["zones"].push_back(to_json(zone));
  for (const UnitState& unit : state.units) json["units"].push_back(to_json(unit));
  for (const SavedReading& reading : state.readings) json["readings"].push_back(to_json(reading));
  return json.dump() + "\n";
}

Result<LedgerState> parse_state(std::string_view text) {
  try {
    return to_state(Json::parse(text));
  } catch (const Malformed& malformed) {
    return Error{malformed.what};
  } catch (const nlohmann::json::exception& exception) {
    return Error{exception.what()};
  }
}

}  // namespace keplerd
