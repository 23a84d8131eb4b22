// SPDX-License-Identifier: Apache-2.0
// What the hardware counts of groups of processes.
#pragma once

#include <array>
#include <compare>

namespace keplerd {

// What is counted on each die.
enum class CountKind {
  kMemoryTraffic,  // bytes that were read from its memory and written to it
  kCoreEnergy,     // microjoules that its cores drew, without what it draws besides
  kCycles,         // of its CPUs while something ran there, at whatever frequency
  kInstructions,   // that its CPUs have completed
  kCacheMisses,    // accesses that its last-level cache did not serve
};
inline constexpr std::array kCountKinds = {CountKind::kMemoryTraffic, CountKind::kCoreEnergy,
                                           CountKind::kCycles, CountKind::kInstructions,
                                           CountKind::kCacheMisses};

struct CountSource {
  CountKind kind = CountKind::kMemoryTraffic;
  int die = 0;  // among all dies of the host

  auto operator<=>(const CountSource&) const = default;
};

}  // namespace keplerd
