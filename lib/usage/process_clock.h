// SPDX-License-Identifier: Apache-2.0
// CPU time of a process in nanoseconds, by its CPU clock: all threads, exited ones included; no permission
// needed.
#pragma once

#include <cstdint>
#include <optional>

#include "base/units.h"

namespace keplerd {

// Nothing where there is no such process. Knows the pids of this process's own pid namespace only. A pid that
// was reused silently gives the new process's time: check its identity after this, not before.
std::optional<Nanoseconds> read_process_clock(std::int32_t pid);

}  // namespace keplerd
