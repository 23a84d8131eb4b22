// SPDX-License-Identifier: Apache-2.0
// Splits a zone's energy into active (spent on work) and idle (drawn by the hardware
// anyway).
#pragma once

#include <optional>

#include "base/units.h"
#include "usage/cpu_ticks.h"

namespace keplerd {

// The busy share of CPU time, as a fraction of integers: busy / total, 0 <= busy <= total.
struct UsageRatio {
  std::int64_t busy = 0;
  std::int64_t total = 0;  // 0: no tick has passed, the ratio is unknown
};

// Between two readings of /proc/stat. iowait may decrease (proc_stat(5)); the ratio stays within 0 and 1.
UsageRatio usage_ratio(const CpuTicks& previous, const CpuTicks& current);

// CPU time of the host between two readings of /proc/stat: 0 <= busy <= all.
struct CpuUse {
  Nanoseconds busy{0};
  Nanoseconds all{0};  // of all CPUs that were online, > 0
};

// Nothing if no tick has passed, or if so many have that they are not a time.
std::optional<CpuUse> cpu_use(const CpuTicks& previous, const CpuTicks& current);

struct EnergySplit {
  Microjoules active;
  Microjoules idle;  // active + idle is the energy that was split
};

// Split=usage-ratio: active = energy x ratio, rounded to the nearest microjoule. Kepler's rule. `ratio.total`
// > 0.
EnergySplit split_by_usage(Microjoules energy, UsageRatio ratio);

}  // namespace keplerd
