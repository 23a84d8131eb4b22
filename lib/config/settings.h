// SPDX-License-Identifier: Apache-2.0
// What keplerd.conf(5) can say, checked. Everything here has a default; the defaults are what keplerd does without a
// configuration file.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace keplerd {

// How an energy zone's window is split into idle and active; named "usage-ratio".
enum class SplitRule { kUsageRatio };
// By what active energy is shared; named "cpu-time".
enum class ShareRule { kCpuTime };
// Where idle energy is placed; named "separate".
enum class IdlePolicy { kSeparate };

struct Settings {
  // [Energy]
  std::string source = "auto";     // Source=
  std::vector<std::string> zones;  // Zones=, names separated by blanks; empty: all

  // [Sampling]
  Nanoseconds interval = std::chrono::seconds(1);           // Interval=; 0: sample on demand
  Nanoseconds staleness = std::chrono::milliseconds(500);   // Staleness=; used where interval is 0

  // [Attribution]
  SplitRule split = SplitRule::kUsageRatio;    // Split=
  ShareRule share = ShareRule::kCpuTime;       // Share=
  IdlePolicy idle = IdlePolicy::kSeparate;     // Idle=

  // [Workloads]: ended ones
  std::optional<std::size_t> terminated_max = 500;                     // TerminatedMax=; unset: no bound ("infinity")
  Microjoules terminated_min_energy{10'000'000};                       // TerminatedMinEnergy=
  std::chrono::seconds terminated_retention = std::chrono::hours(48);  // TerminatedRetention=

  bool operator==(const Settings&) const = default;
};

}  // namespace keplerd
