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
};
inline constexpr std::array kCountKinds = {CountKind::kMemoryTraffic, CountKind::kCoreEnergy};

struct CountSource {
  CountKind kind = CountKind::kMemoryTraffic;
  int die = 0;  // among all dies of the host

  auto operator<=>(const CountSource&) const = default;
};

}  // namespace keplerd
