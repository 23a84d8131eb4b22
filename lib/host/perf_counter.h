// SPDX-License-Identifier: Apache-2.0
// Counters of perf_event_open(2).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"

namespace keplerd {

// An event that is counted on one CPU.
struct PerfEvent {
  std::uint32_t type = 0;  // of the PMU
  std::uint64_t config = 0;
  int cpu = 0;
  // A descriptor of a cgroup's directory in cgroup2: counted for what runs in it, and in those below it. It
  // may be closed later. -1: for whatever runs on the CPU.
  int cgroup = -1;
  auto operator<=>(const PerfEvent&) const = default;
};

struct PerfReading {
  std::uint64_t count = 0;  // since it was opened
  std::uint64_t enabled =
      0;  // nanoseconds in which it should have been counted: of a cgroup, those in which it ran
  std::uint64_t running = 0;  // of these, those in which it was: hardware has few counters
};

class PerfCounter {
 public:
  virtual ~PerfCounter() = default;
  virtual Result<PerfReading> read() = 0;
};

// The seam: tests substitute counters of their own here.
using OpenPerfCounter = std::function<Result<std::unique_ptr<PerfCounter>>(const PerfEvent&)>;

// The kernel's. EACCES or EPERM without CAP_PERFMON, or if a system call filter forbids it; ENOENT,
// EOPNOTSUPP or EINVAL if there is no such event here, or if the cgroup cannot be counted.
Result<std::unique_ptr<PerfCounter>> open_perf_counter(const PerfEvent& event);

}  // namespace keplerd
