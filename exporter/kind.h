// SPDX-License-Identifier: Apache-2.0
// The kinds of rows that keplerd tells, and the set of them that is served to everybody.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <string_view>

namespace keplerd::exporter {

enum class Kind { kZones, kUnits, kVms, kContainers, kPods, kProcesses };

inline constexpr std::array<Kind, 6> kKinds = {Kind::kZones,      Kind::kUnits, Kind::kVms,
                                               Kind::kContainers, Kind::kPods,  Kind::kProcesses};

constexpr std::size_t index_of(Kind kind) { return static_cast<std::size_t>(kind); }

// As org.keplerd.Energy calls them.
constexpr std::string_view name_of(Kind kind) {
  constexpr std::array<std::string_view, 6> kNames = {"zones",      "units", "vms",
                                                      "containers", "pods",  "processes"};
  return kNames[index_of(kind)];
}

using Kinds = std::bitset<kKinds.size()>;

}  // namespace keplerd::exporter
