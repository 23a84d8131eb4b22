// SPDX-License-Identifier: Apache-2.0
#include "meters/perf/events.h"

#include <linux/perf_event.h>

namespace keplerd::perf {

std::vector<Event> events_for(ShareRule share, std::string_view vendor) {
  std::vector<Event> events;
  if (vendor == "GenuineIntel" && share != ShareRule::kCpuTime)
    events.push_back(
        {CountKind::kCacheMisses, "cache misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES});
  if (share == ShareRule::kInstructions)
    events.push_back(
        {CountKind::kInstructions, "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS});
  if (share == ShareRule::kCycles)
    events.push_back({CountKind::kCycles, "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES});
  return events;
}

std::vector<Event> task_clock() {
  return {{CountKind::kInstructions, "task clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK}};
}

}  // namespace keplerd::perf
