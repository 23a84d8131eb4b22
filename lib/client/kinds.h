// SPDX-License-Identifier: Apache-2.0
// The kinds of rows that keplerd reports: the single table of their names, for all clients of
// org.keplerd.Energy. Pure.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <string>
#include <string_view>

namespace keplerd::client {

enum class Kind { kUnits, kVms, kContainers, kPods, kProcesses, kZones };

struct KindInfo {
  Kind kind{};
  std::string_view plural;    // in org.keplerd.Energy: "vms"
  std::string_view singular;  // "vm"
  std::string_view json_key;  // of a list in keplerctl's JSON: "virtualMachines"
  std::string_view word;      // for people: "virtual machine"
  std::string_view words;
  std::string_view no_such;  // the error for an unknown id, without the interface
  // Workloads that a host may well not have. Their usage is included in units, too, so they have a sum of
  // their own.
  bool guests = false;
};

// In the order of Kind, which is the order in which they are displayed.
inline constexpr std::array<KindInfo, 6> kKinds = {
    {{Kind::kUnits, "units", "unit", "units", "unit", "units", "NoSuchUnit"},
     {Kind::kVms, "vms", "vm", "virtualMachines", "virtual machine", "virtual machines",
      "NoSuchVirtualMachine", true},
     {Kind::kContainers, "containers", "container", "containers", "container", "containers",
      "NoSuchContainer", true},
     {Kind::kPods, "pods", "pod", "pods", "pod", "pods", "NoSuchPod", true},
     {Kind::kProcesses, "processes", "process", "processes", "process", "processes", "NoSuchProcess"},
     {Kind::kZones, "zones", "zone", "zones", "zone", "zones", "NoSuchZone"}}};

using Kinds = std::bitset<kKinds.size()>;  // by index_of()

constexpr std::size_t index_of(Kind kind) { return static_cast<std::size_t>(kind); }
constexpr const KindInfo& info_of(Kind kind) { return kKinds[index_of(kind)]; }

// The name in org.keplerd.Energy: "vms".
constexpr std::string_view name_of(Kind kind) { return info_of(kind).plural; }

// Looks up a kind by any of its display names or its name in org.keplerd.Energy, with hyphens for blanks;
// null if there is no such kind.
const KindInfo* find_kind(std::string_view name);

// Lists one name of each kind: "unit, virtual machine, ... or zone".
std::string kind_list(std::string_view KindInfo::*name);

}  // namespace keplerd::client
