// SPDX-License-Identifier: Apache-2.0
// Not a meter: a power curve over utilisation, for hosts without any counter. Used only on explicit request,
// and everything derived from it is labelled `estimated`.
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

// What the host draws when idle, and when all CPUs are busy; linear in between.
struct PowerCurve {
  Microwatts idle, max;
};

// Time of all CPUs since boot, in clock ticks, from the first line of /proc/stat (proc_stat(5)). `busy` is
// what parse_busy_ticks() counts; `all` adds idle, iowait and steal.
struct Utilisation {
  std::int64_t busy = 0;
  std::int64_t all = 0;
};
Result<Utilisation> parse_utilisation(std::string_view stat);

// The counter: idle power over time, plus the rest of the curve over its busy part. Exact; if no tick has
// passed nothing is added, and the next reading counts the whole time.
class EstimatedCounter {
 public:
  explicit EstimatedCounter(PowerCurve curve) : curve_(curve) {}

  // The counter at `now` (CLOCK_MONOTONIC); 0 the first time. Ticks that step back count as none.
  Microjoules advance(Nanoseconds now, Utilisation utilisation);

 private:
  struct Seen {
    Nanoseconds now;
    Utilisation utilisation;
  };

  PowerCurve curve_;
  std::optional<Seen> last_;
  Microjoules energy_;
  std::int64_t remainder_ = 0;  // of a microjoule, in 10^-9
};

// One zone, "estimated:package:0". `reason`: the zone's quality_reason, why the curve itself is an estimate;
// empty if it is not. Does not depend on the lifetime of `host`.
Result<std::unique_ptr<EnergySource>> open_estimated(const HostRoot& host,
                                                     const std::vector<std::string>& names, PowerCurve curve,
                                                     std::string reason = {});

}  // namespace keplerd
