// SPDX-License-Identifier: Apache-2.0
// The text of a usage file (keplerd-meters(7)): /run/keplerd-usage/NAME/DEVICE, in which a program of its own
// states how long processes have used a device. Pure.
//
//   BOOTTIME                 when that was read: CLOCK_BOOTTIME in microseconds
//   PID STARTTIME BUSY       one line per process: its start time in clock ticks since boot (proc(5)), and
//   ...                      for how long the device has worked for it, in nanoseconds, since it was first
//                            seen using it
//
// Or one line, "unknown REASON": why the use of this device is not known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "usage/process_id.h"

namespace keplerd {

inline constexpr std::size_t kMostUsers = 1024;             // of a device
inline constexpr std::size_t kLongestUsageFile = 64 << 10;  // bytes

struct UsageReading {
  Nanoseconds time{0};  // CLOCK_BOOTTIME
  std::map<ProcessId, Nanoseconds> busy;
};

// Fails if any line is malformed, or names a process again; or with the reason why the use is not known.
Result<UsageReading> parse_usage_file(std::string_view text);

}  // namespace keplerd
