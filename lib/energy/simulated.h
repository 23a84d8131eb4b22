// SPDX-License-Identifier: Apache-2.0
// A meter for machines that have none: made-up constants over this host's real busy time. It serves to try
// out and test keplerd; everything derived from it is labelled `simulated`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "energy/energy_source.h"

namespace keplerd {

class HostRoot;

// Made-up round numbers, typical of a small server. No machine was measured.
inline constexpr Microwatts kSimulatedIdlePower{20'000'000};
inline constexpr Microwatts kSimulatedPowerPerBusyCore{10'000'000};

// Time in which this host's CPUs did work of its own, in clock ticks since boot: user + nice + system + irq +
// softirq of the first line of /proc/stat (proc_stat(5)); not steal, which is another machine's work.
Result<std::int64_t> parse_busy_ticks(std::string_view stat);

// The counter: idle power over time plus power per busy core over busy time. Exact: fractions of a microjoule
// are carried over, so the reading depends only on the end points, not on how often it is read.
class SimulatedCounter {
 public:
  explicit SimulatedCounter(std::int64_t ticks_per_second) : ticks_per_second_(ticks_per_second) {}

  // The counter at `now`, when the CPUs have been busy for `busy_ticks`; 0 the first time. A step back of
  // either counts as none, and making it up is not counted again.
  Microjoules advance(Nanoseconds now, std::int64_t busy_ticks);

 private:
  struct Seen {
    Nanoseconds now;
    std::int64_t busy_ticks;
  };

  std::int64_t ticks_per_second_;
  std::optional<Seen> last_;
  Microjoules energy_;
  __int128 remainder_ = 0;  // of a microjoule, in 1 / (10^9 x ticks_per_second_)
};

// One zone, "simulated:package:0". Does not depend on the lifetime of `host`.
Result<std::unique_ptr<EnergySource>> open_simulated(const HostRoot& host,
                                                     const std::vector<std::string>& names);

}  // namespace keplerd
