// SPDX-License-Identifier: Apache-2.0
// Which events are counted.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "config/settings.h"
#include "usage/count_source.h"

namespace keplerd::perf {

struct Event {
  CountKind kind = CountKind::kCacheMisses;
  const char* name = "";
  std::uint32_t type = 0;    // of the PMU, and
  std::uint64_t config = 0;  // of the event, as perf_event_open(2) has them
};

// What keplerd uses with this setting, of the kernel's generalized events: hardware has few counters. Cache
// misses on Intel's processors only: elsewhere, this event is not that of the last-level cache.
std::vector<Event> events_for(ShareRule share, std::string_view vendor);

// In place of instructions, nanoseconds of the kernel's task clock, which all hosts have: for tests.
std::vector<Event> task_clock();

}  // namespace keplerd::perf
