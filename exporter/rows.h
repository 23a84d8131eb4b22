// SPDX-License-Identifier: Apache-2.0
// The parts of keplerd's rows that become metrics.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace keplerd::exporter {

using CpuTime = std::chrono::microseconds;

struct Energy {
  Microjoules energy;
  std::optional<Microwatts> power;
};

struct EnergyByZone {
  Energy all;
  // By the zone's name, summed over all sockets. Empty: the parts are unknown.
  std::map<std::string, Energy, std::less<>> zones;
};

// An energy zone of the host.
struct ZoneRow {
  std::string id, name;  // "powercap:package:0", "package"
  std::string quality;
  std::int64_t index = 0;
  bool running = true;
  bool in_total = false;
  Energy all, active, idle;
};

// Zones of this name count whole graphics cards.
inline bool is_card(std::string_view zone_name) { return zone_name == "gpu"; }

struct WorkloadRow : EnergyByZone {
  std::string id, name;
  // Its parts of the graphics cards that worked for it, by the zone's id.
  std::map<std::string, Energy, std::less<>> cards;
  bool running = true;
  CpuTime cpu{0};
  // Half the width of the 95 % interval of its energy, in millionths of that; unset: unknown.
  std::optional<std::int64_t> error;
};

struct UnitRow : WorkloadRow {};

struct VmPart {
  std::string name;
  Microjoules energy;
};

struct VmRow : WorkloadRow {
  std::string hypervisor, unit, title, guest_state;
  std::optional<std::int64_t> pid, vcpus;
  std::map<std::string, std::string, std::less<>> metadata;  // "openstack.project" and the like
  std::vector<VmPart> parts;
};

// A container, or a pod.
struct ContainerRow : WorkloadRow {
  std::string runtime, pod_id, name_space;
  std::string parent;  // id of the container or pod around it
};

struct ProcessRow : WorkloadRow {
  std::int64_t pid = 0;
  std::string comm, exe, container_id, vm_id;
};

}  // namespace keplerd::exporter
