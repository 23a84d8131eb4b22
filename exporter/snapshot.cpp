// SPDX-License-Identifier: Apache-2.0
#include "exporter/snapshot.h"

#include <algorithm>

#include "client/row_set.h"
#include "varlink/json.h"

namespace keplerd::exporter {
namespace {

using client::elements;
using client::field;
using client::flag;
using client::integer_field;
using client::text;
using varlink::Json;

// Names and values of an object; none for anything else.
auto items(const Json& value) {
  static const Json kNone = Json::object();
  return (value.is_object() ? value : kNone).items();
}

std::optional<Microwatts> power(const Json& object, const char* name) {
  const auto value = integer_field(object, name);
  if (!value) return std::nullopt;
  return Microwatts{*value};
}

// Counters show what was counted under the present instance id: with another one they begin at 0. Floored
// values may be less than what was counted before.
std::int64_t since(std::int64_t total, std::int64_t earlier) {
  return std::max(total - earlier, std::int64_t{0});
}

// The same of a member of `object`.
std::int64_t counted(const Json& object, const char* name, std::int64_t earlier) {
  return since(integer_field(object, name).value_or(0), earlier);
}

// Of a part of a VM, or the platform.
Microjoules counted_energy(const Json& object) {
  return {counted(object, "energyMicrojoules", integer_field(object, "earlierMicrojoules").value_or(0))};
}

// Of a workload or its part of a zone: what it used, without idle energy that was placed on it.
Energy active_energy(const Json& object) {
  const auto active = [&object](const char* all, const char* idle) {
    return integer_field(object, all).value_or(0) - integer_field(object, idle).value_or(0);
  };
  Energy energy{{since(active("energyMicrojoules", "idleMicrojoules"),
                       active("earlierMicrojoules", "earlierIdleMicrojoules"))},
                power(object, "powerMicrowatts")};
  if (energy.power) *energy.power -= power(object, "idleMicrowatts").value_or(Microwatts{});
  return energy;
}

void read_energies(const Json& object, std::int64_t earlier, std::int64_t earlier_idle, Energy& all,
                   Energy& active, Energy& idle) {
  all = {{counted(object, "energyMicrojoules", earlier)}, power(object, "powerMicrowatts")};
  active = {{counted(object, "activeMicrojoules", earlier - earlier_idle)},
            power(object, "activeMicrowatts")};
  idle = {{counted(object, "idleMicrojoules", earlier_idle)}, power(object, "idleMicrowatts")};
}

// Of the CPU time of the last window.
std::optional<std::int64_t> busy_share(const Json& host) {
  const auto all = integer_field(host, "windowCpuUsec"), busy = integer_field(host, "windowBusyUsec");
  if (!all || !busy || *all <= 0 || *busy < 0 || *busy > *all) return std::nullopt;
  return static_cast<std::int64_t>(static_cast<__int128>(*busy) * 1'000'000 / *all);
}

std::optional<std::chrono::microseconds> span(const Json& object, const char* name) {
  const auto value = integer_field(object, name);
  if (!value) return std::nullopt;
  return std::chrono::microseconds(*value);
}

std::optional<PlatformState> read_platform(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  PlatformState platform{.id = text(json, "id"),
                         .name = text(json, "name"),
                         .all = {counted_energy(json), power(json, "powerMicrowatts")},
                         .rest = {},
                         .rest_power = power(json, "restMicrowatts"),
                         .age = span(json, "ageUsec"),
                         .lag = span(json, "lagUsec")};
  const std::int64_t earlier = integer_field(json, "earlierRestMicrojoules").value_or(0);
  if (integer_field(json, "restMicrojoules")) platform.rest = {counted(json, "restMicrojoules", earlier)};
  return platform;
}

HostState read_host(const Json& reply) {
  HostState state;
  const Json& earlier = field(reply, "earlier");
  read_energies(field(reply, "host"), integer_field(earlier, "energyMicrojoules").value_or(0),
                integer_field(earlier, "idleMicrojoules").value_or(0), state.all, state.active, state.idle);
  state.platform = read_platform(field(reply, "platform"));
  state.busy = busy_share(field(reply, "host"));
  const Json& earlier_accounts = field(earlier, "accounts");
  for (const auto& [name, value] : items(field(reply, "accounts"))) {
    if (!value.is_number_integer()) continue;
    const std::int64_t before = integer_field(earlier_accounts, name.c_str()).value_or(0);
    state.accounts[name] = {since(value.get<std::int64_t>(), before)};
  }
  const Json& source = field(reply, "source");
  state.source = text(source, "name");
  state.quality = text(source, "quality");
  state.sampled = std::chrono::microseconds(integer_field(reply, "realtimeUsec").value_or(0));
  for (const Json& problem : elements(field(reply, "problems"))) ++state.problems[text(problem, "kind")];
  state.discarded_windows =
      counted(reply, "discardedWindows", integer_field(earlier, "discardedWindows").value_or(0));
  state.missed_ends = integer_field(reply, "missedEnds").value_or(0);
  state.daemon_cpu = CpuTime(integer_field(reply, "daemonCpuUsec").value_or(0));
  return state;
}

void read_row(const Json& json, ZoneRow& row) {
  row.name = text(json, "name");
  row.quality = text(json, "quality");
  row.index = integer_field(json, "index").value_or(0);
  row.running = text(json, "state") == "running";
  row.in_total = flag(json, "inTotal");
  read_energies(json, integer_field(json, "earlierMicrojoules").value_or(0),
                integer_field(json, "earlierIdleMicrojoules").value_or(0), row.all, row.active, row.idle);
}

// Several zones of one name belong to several sockets (or to meters used one after the other).
void add_zone(WorkloadRow& row, const Json& json) {
  Energy& zone = row.zones[text(json, "name")];
  const Energy added = active_energy(json);
  zone.energy += added.energy;
  if (added.power) zone.power = zone.power.value_or(Microwatts{}) + *added.power;
  if (is_card(text(json, "name")) && added.energy > Microjoules{}) row.cards[text(json, "id")] = added;
}

// With full access only. As a fraction: of all that was counted, under earlier instance ids too.
std::optional<std::int64_t> error_of(const Json& row) {
  const auto error = integer_field(row, "errorMicrojoules"), active = integer_field(row, "activeMicrojoules");
  if (!error || !active || *active <= 0) return std::nullopt;
  return static_cast<std::int64_t>(1e6 * static_cast<double>(*error) / static_cast<double>(*active));
}

void read_workload(const Json& json, WorkloadRow& row) {
  row.name = text(json, "name");
  row.running = text(json, "state") == "running";
  row.all = active_energy(json);
  row.cpu = CpuTime(counted(json, "cpuUsec", integer_field(json, "earlierCpuUsec").value_or(0)));
  row.error = error_of(json);
  for (const Json& zone : elements(field(json, "zones"))) add_zone(row, zone);
}

void read_row(const Json& json, UnitRow& row) { read_workload(json, row); }

void read_row(const Json& json, VmRow& row) {
  read_workload(json, row);
  row.hypervisor = text(json, "hypervisor");
  row.unit = text(json, "unit");
  row.title = text(json, "title");
  row.guest_state = text(json, "guestState");
  row.pid = integer_field(json, "pid");
  row.vcpus = integer_field(json, "vcpus");
  for (const auto& [name, value] : items(field(json, "metadata"))) {
    if (value.is_string()) row.metadata[name] = value.get<std::string>();
  }
  const Microjoules idle{
      counted(json, "idleMicrojoules", integer_field(json, "earlierIdleMicrojoules").value_or(0))};
  for (const Json& part : elements(field(json, "breakdown"))) {
    const std::string name = text(part, "name");
    row.parts.push_back({name, counted_energy(part) - (name == "other" ? idle : Microjoules{})});
  }
}

void read_row(const Json& json, ContainerRow& row) {
  read_workload(json, row);
  row.runtime = text(json, "runtime");
  row.pod_id = text(json, "podId");
  row.parent = text(json, "parent");
  row.name_space = text(json, "namespace");
}

void read_row(const Json& json, ProcessRow& row) {
  read_workload(json, row);
  row.pid = integer_field(json, "pid").value_or(0);
  row.comm = text(json, "comm");
  row.exe = text(json, "exe");
  row.container_id = text(json, "containerId");
  row.vm_id = text(json, "virtualMachineId");
}

template <class Row>
bool read_rows(const Json& reply, Rows<Row>& rows) {
  return client::read_changes(
      reply, [&rows](const std::string& id) { rows.erase(id); },
      [&rows](std::string id, const Json& json) {
        // Cgroups that are not units are included in the units above them.
        if (id.empty() || text(json, "kind") == "group") return;
        Row row;
        row.id = id;
        read_row(json, row);
        rows.insert_or_assign(std::move(id), std::move(row));
      });
}

}  // namespace

template <class F>
auto Snapshot::with_rows(Kind kind, F f) {
  switch (kind) {
    case Kind::kUnits:
      return f(units_);
    case Kind::kVms:
      return f(vms_);
    case Kind::kContainers:
      return f(containers_);
    case Kind::kPods:
      return f(pods_);
    case Kind::kProcesses:
      return f(processes_);
    case Kind::kZones:
      break;
  }
  return f(zones_);
}

void Snapshot::apply(Kind kind, const Json& reply) {
  if (kind == Kind::kZones) host_ = read_host(reply);
  const bool whole = with_rows(kind, [&reply](auto& rows) { return read_rows(reply, rows); });
  if (!whole) return;
  complete_.set(index_of(kind));
  sequences_[index_of(kind)] = integer_field(reply, "sequence").value_or(0);
  ++revision_;
}

bool Snapshot::are_processes_current() const {
  return has(Kind::kZones) && has(Kind::kProcesses) &&
         sequences_[index_of(Kind::kZones)] == sequences_[index_of(Kind::kProcesses)];
}

EnergyByZone Snapshot::active() const {
  EnergyByZone active;
  if (host_) active.all = host_->active;
  const bool in_parts =
      std::ranges::any_of(processes_, [](const auto& entry) { return !entry.second.zones.empty(); });
  if (!in_parts) return active;
  for (const auto& [id, row] : zones_) {
    Energy& zone = active.zones[row.name];
    zone.energy += row.active.energy;
    if (row.running && row.active.power) zone.power = zone.power.value_or(Microwatts{}) + *row.active.power;
  }
  return active;
}

void Snapshot::forget(Kind kind) {
  if (kind == Kind::kZones) host_.reset();
  with_rows(kind, [](auto& rows) { rows.clear(); });
  complete_.reset(index_of(kind));
  ++revision_;
}

}  // namespace keplerd::exporter
