// SPDX-License-Identifier: Apache-2.0
// The CPU time that everything on this host has used.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "host/host_root.h"

namespace keplerd::cli::calibrate {

// From cpu.stat of the root cgroup (Linux 5.9 and later): to the microsecond, unlike the ticks of /proc/stat.
Result<Nanoseconds> read_busy_time(const HostRoot& host);

// "usage_usec" of the text of a cpu.stat.
Result<Nanoseconds> parse_busy_time(std::string_view cpu_stat);

}  // namespace keplerd::cli::calibrate
