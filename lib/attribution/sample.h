// SPDX-License-Identifier: Apache-2.0
// What the sensors reported at one instant: the energy counters and the CPU usage.
#pragma once

#include <chrono>

#include "base/units.h"
#include "energy/energy_source.h"
#include "usage/usage_sample.h"

namespace keplerd {

struct Instant {
  Nanoseconds monotonic{0};               // CLOCK_MONOTONIC: stands still while the host is suspended
  Nanoseconds boottime{0};                // CLOCK_BOOTTIME: does not
  std::chrono::microseconds realtime{0};  // since 1970; for display only
};

struct Sample {
  Instant at;             // the middle of the counter reads
  ZoneReadings readings;  // in the order of the source's zones
  UsageSample usage;
};

}  // namespace keplerd
