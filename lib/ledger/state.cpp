// SPDX-License-Identifier: Apache-2.0
#include "ledger/state.h"

#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

#include "ledger/model_state.h"
#include "ledger/state_checks.h"
#include "ledger/state_owners.h"

namespace keplerd {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr std::int64_t kMostAmount = std::int64_t{1} << 60;  // uJ: 36 years at 1 kW

std::int64_t to_number(const Json& value, const std::string& what) {
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0 ||
      value.get<std::int64_t>() > kMostAmount) {
    throw Malformed{what + " is not a number in range"};
  }
  return value.get<std::int64_t>();
}

std::int64_t number(const Json& object, const char* key) { return to_number(object.at(key), key); }

Microjoules energy(const Json& object, const char* key) { return {number(object, key)}; }
Realtime realtime(const Json& object, const char* key) { return Realtime(number(object, key)); }

Quality known_quality(const std::string& text) {
  if (const auto known = parse_quality(text)) return *known;
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
          {"placedIdleMicrojoules", zone.placed.value},
          {"sinceUsec", zone.since.count()}};
}

ZoneState to_zone(const Json& json) {
  ZoneState zone{.id = json.at("id"),
                 .name = json.at("name"),
                 .index = json.at("index"),
                 .quality = known_quality(json.at("quality")),
                 .in_total = json.at("inTotal"),
                 .energy = energy(json, "energyMicrojoules"),
                 .idle = energy(json, "idleMicrojoules"),
                 .kernel = energy(json, "kernelMicrojoules"),
                 .unattributed = energy(json, "unattributedMicrojoules"),
                 .placed = {},
                 .since = realtime(json, "sinceUsec")};
  // Earlier versions placed none.
  if (json.contains("placedIdleMicrojoules")) zone.placed = energy(json, "placedIdleMicrojoules");
  check_zone(zone);
  return zone;
}

Json to_json(const std::vector<Microjoules>& energies) {
  Json json = Json::array();
  for (const Microjoules zone : energies) json.push_back(zone.value);
  return json;
}

std::vector<Microjoules> to_energies(const Json& json, std::size_t zones) {
  if (!json.is_array() || json.size() > zones) throw Malformed{"a workload has more zones than there are"};
  std::vector<Microjoules> energies;
  for (const Json& value : json) energies.push_back({to_number(value, "an energy")});
  return energies;
}

void set_text(Json& json, const char* key, const std::optional<std::string>& text) {
  if (text) json[key] = *text;
}

std::optional<std::string> text_if_there(const Json& json, const char* key) {
  if (!json.contains(key)) return std::nullopt;
  return json.at(key).get<std::string>();
}

// The fields common to all kinds of workloads.
template <class State>
Json account_json(const std::string& id, const State& state) {
  Json json = {{"id", id},
               {"energyMicrojoules", to_json(state.energy)},
               {"errorMicrojoules", state.error.value},
               {"cpuNsec", state.cpu.count()},
               {"sinceUsec", state.since.count()}};
  if (!state.idle.empty()) json["idleMicrojoules"] = to_json(state.idle);
  if (state.ended) json["endedUsec"] = state.ended->count();
  if (state.owner) json["ownerUid"] = *state.owner;
  return json;
}

template <class State>
void read_account(const Json& json, std::size_t zones, State& state) {
  state.energy = to_energies(json.at("energyMicrojoules"), zones);
  state.idle.clear();
  if (json.contains("idleMicrojoules")) state.idle = to_energies(json.at("idleMicrojoules"), zones);
  check_idle(state.energy, state.idle);
  // States of versions before errors were computed have none: all of it may be wrong.
  state.error = {};
  for (const Microjoules zone : state.energy)
    state.error.value = std::min(kMostAmount, state.error.value + zone.value);
  if (json.contains("errorMicrojoules")) state.error = energy(json, "errorMicrojoules");
  state.cpu = Nanoseconds(number(json, "cpuNsec"));
  state.since = realtime(json, "sinceUsec");
  if (json.contains("endedUsec")) state.ended = realtime(json, "endedUsec");
  if (!json.contains("ownerUid")) return;
  const std::int64_t owner = number(json, "ownerUid");
  if (owner > std::numeric_limits<Uid>::max()) throw Malformed{"ownerUid is not a user"};
  state.owner = static_cast<Uid>(owner);
}

Json to_json(const UnitState& unit) {
  Json json = account_json(unit.id, unit);
  json["ownMicrojoules"] = unit.own.value;
  return json;
}

UnitState to_unit(const Json& json, std::size_t zones) {
  UnitState unit;
  read_account(json, zones, unit);
  unit.id = json.at("id");
  unit.own = energy(json, "ownMicrojoules");
  if (unit.id.empty() || unit.id[0] != '/') throw Malformed{"a unit's id is not a path"};
  return unit;
}

Json to_json(const ContainerState& container) {
  const ContainerInfo& info = container.info;
  Json json = account_json(info.id, container);
  json["ownMicrojoules"] = container.own.value;
  json["parentMicrojoules"] = container.in_parent.value;
  json["name"] = info.name;
  json["pod"] = info.is_pod;
  json["runtime"] = info.runtime;
  json["unit"] = info.unit;
  if (!info.name_space.empty()) json["namespace"] = info.name_space;
  set_text(json, "parent", info.parent);
  set_text(json, "podId", info.pod);
  return json;
}

ContainerState to_container(const Json& json, std::size_t zones) {
  ContainerState container;
  read_account(json, zones, container);
  container.own = energy(json, "ownMicrojoules");
  container.in_parent = energy(json, "parentMicrojoules");
  ContainerInfo& info = container.info;
  info.id = json.at("id");
  info.name = json.at("name");
  info.is_pod = json.at("pod");
  info.runtime = json.at("runtime");
  info.unit = json.at("unit");
  info.name_space = text_if_there(json, "namespace").value_or("");
  info.parent = text_if_there(json, "parent");
  info.pod = text_if_there(json, "podId");
  return container;
}

Json to_json(const VmState& vm) {
  const VmInfo& info = vm.info;
  Json json = account_json(info.id, vm);
  if (vm.evidence) json["evidence"] = vm_evidence_name(*vm.evidence);
  json["name"] = info.name;
  if (!info.title.empty()) json["title"] = info.title;
  if (info.vcpus) json["vcpus"] = *info.vcpus;
  if (!info.metadata.empty()) json["metadata"] = info.metadata;
  json["hypervisor"] = info.hypervisor;
  json["pid"] = info.pid;
  if (info.guest_elsewhere) json["guestElsewhere"] = true;
  if (!vm.parts.empty()) json["breakdown"] = Json::object();
  for (const VmPart& part : vm.parts) json["breakdown"][part.name] = part.energy.value;
  set_text(json, "uuid", info.uuid);
  set_text(json, "unit", info.unit);
  set_text(json, "containerId", info.container);
  return json;
}

VmState to_vm(const Json& json, std::size_t zones) {
  VmState vm;
  read_account(json, zones, vm);
  if (json.contains("evidence")) {
    vm.evidence = parse_vm_evidence(json.at("evidence").get<std::string>());
    if (!vm.evidence) throw Malformed{"unknown evidence"};
  }
  VmInfo& info = vm.info;
  info.id = json.at("id");
  info.name = json.at("name");
  info.title = text_if_there(json, "title").value_or("");
  if (json.contains("vcpus")) info.vcpus = json.at("vcpus");
  if (json.contains("metadata")) info.metadata = json.at("metadata");
  info.hypervisor = json.at("hypervisor");
  info.pid = json.at("pid");
  info.guest_elsewhere = json.contains("guestElsewhere");
  const Json parts = json.value("breakdown", Json::object());
  for (const auto& [name, energy] : parts.items())
    vm.parts.push_back({name, {to_number(energy, "a part's energy")}});
  info.uuid = text_if_there(json, "uuid");
  info.unit = text_if_there(json, "unit");
  info.container = text_if_there(json, "containerId");
  return vm;
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

// A deeper nesting than a state's would be freed, and copied, recursively.
void check_depth(std::string_view text) {
  constexpr int kMost = 32;
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text && c == '\\') ++i;
    if (c == '"') in_text = !in_text;
    if (in_text) continue;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kMost) throw Malformed{"nested too deeply"};
  }
}

// Returns what `read` makes of the row; turns the JSON library's exceptions into Malformed.
template <class Read>
auto parse_row(std::string_view text, std::size_t zones, Read read) {
  try {
    check_depth(text);
    return read(Json::parse(text), zones);
  } catch (const nlohmann::json::exception& exception) {
    throw Malformed{exception.what()};
  }
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
                    .containers = {},
                    .vms = {},
                    .processes = {},
                    .readings = {},
                    .models = {}};
  for (const Json& zone : json.at("zones")) state.zones.push_back(to_zone(zone));
  for (const Json& unit : json.at("units")) state.units.push_back(to_unit(unit, state.zones.size()));
  // Earlier versions had no such accounts.
  const std::size_t zones = state.zones.size();
  for (const Json& container : json.value("containers", Json::array()))
    state.containers.push_back(to_container(container, zones));
  for (const Json& vm : json.value("virtualMachines", Json::array())) state.vms.push_back(to_vm(vm, zones));
  for (const Json& reading : json.at("readings")) state.readings.push_back(to_reading(reading));
  if (json.contains("models")) state.models = read_models(json.at("models"));
  check_state(state);
  give_owners(state);
  return state;
}

}  // namespace

Microjoules energy_of_workloads(const std::vector<ZoneState>& zones) {
  Microjoules sum;
  for (const ZoneState& zone : zones) {
    if (zone.in_total) sum += zone.workloads();
  }
  return sum;
}

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
               {"containers", Json::array()},
               {"virtualMachines", Json::array()},
               {"readings", Json::array()},
               {"models", models_json(state.models)}};
  for (const ZoneState& zone : state.zones) json["zones"].push_back(to_json(zone));
  for (const UnitState& unit : state.units) json["units"].push_back(to_json(unit));
  for (const ContainerState& container : state.containers) json["containers"].push_back(to_json(container));
  for (const VmState& vm : state.vms) json["virtualMachines"].push_back(to_json(vm));
  for (const SavedReading& reading : state.readings) json["readings"].push_back(to_json(reading));
  // Names that are not UTF-8 must not cost the totals.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string format_row(const ContainerState& container) { return to_json(container).dump(); }
std::string format_row(const VmState& vm) { return to_json(vm).dump(); }

ContainerState parse_container(std::string_view text, std::size_t zones) {
  return parse_row(text, zones, to_container);
}
VmState parse_vm(std::string_view text, std::size_t zones) { return parse_row(text, zones, to_vm); }

Result<LedgerState> parse_state(std::string_view text) {
  try {
    check_depth(text);
    return to_state(Json::parse(text));
  } catch (const Malformed& malformed) {
    return Error{malformed.what};
  } catch (const nlohmann::json::exception& exception) {
    return Error{exception.what()};
  }
}

}  // namespace keplerd
