// SPDX-License-Identifier: Apache-2.0
// The CPU times of a sample, as a later run on the same boot continues from them: its first window begins
// with that sample, as if there had been no other run in between.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/units.h"
#include "usage/cpu_ticks.h"
#include "usage/process_id.h"

namespace keplerd {

struct SavedUsage {
  struct Group {
    std::uint64_t identity = 0;  // of its directory (read_identity()): another one has another
    Nanoseconds usage{0};

    bool operator==(const Group&) const = default;
  };
  // No identity: the process was not read when its group last used CPU time. What it had used at the sample
  // is not known.
  static constexpr std::uint64_t kBehind = std::numeric_limits<std::uint64_t>::max();

  struct Process {
    ProcessId id;
    std::uint64_t group = 0;  // identity; 0: none; kBehind
    Nanoseconds usage{0};

    bool operator==(const Process&) const = default;
  };

  Nanoseconds monotonic{0}, boottime{0};  // of the sample
  CpuTicks ticks;
  bool complete = true;       // no cgroup was left out: any that is not in `groups` has been created since
  std::vector<Group> groups;  // threaded ones, too
  std::vector<Process> processes;
  // Of a change: identities of groups that have fallen behind. The times of their processes that were saved
  // before are not known any more (kBehind).
  std::vector<std::uint64_t> behind;

  bool operator==(const SavedUsage&) const = default;
};

}  // namespace keplerd
