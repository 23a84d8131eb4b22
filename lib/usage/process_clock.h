// SPDX-License-Identifier: Apache-2.0
// Reads the CPU time of a process from its CPU clock, in whole microseconds as those of cgroups are: all
// threads, exited ones included; needs no permission.
#pragma once

#include <cstdint>
#include <optional>

#include "base/units.h"

namespace keplerd {

// Nothing if there is no such process. Only pids of this process's own pid namespace work. A reused pid
// silently yields the new process's time: check its identity after this call, not before.
std::optional<Nanoseconds> read_process_clock(std::int32_t pid);

}  // namespace keplerd
