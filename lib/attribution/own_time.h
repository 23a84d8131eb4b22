// SPDX-License-Identifier: Apache-2.0
// Derives each cgroup's own CPU time from hierarchical CPU times (cgroup-v2, "cpu.stat").
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/units.h"
#include "usage/usage_sample.h"

namespace keplerd {

// A group's own time in a window is its time minus that of its children. The time of a child that ended in
// the window is included in its parent's at once, and stays there. Groups are read one after another, so a
// busy child that is read later than its parent can make the difference slightly negative: it is then 0, and
// the deficit is deducted from the group's next windows, so that over time nothing is counted twice.
class OwnTimes {
 public:
  // Sets `own` to the groups' own time in the window, in their order, each at least 0. `groups` as in
  // UsageSample.
  void update(std::span<const GroupUsage> groups, std::vector<Nanoseconds>& own);

 private:
  std::unordered_map<std::uint64_t, Nanoseconds> deficits_;       // by incarnation
  std::unordered_map<std::uint64_t, Nanoseconds> next_deficits_;  // kept to reuse its memory
};

// The time that a group and its descendants used in the window; 0 without an earlier sample.
Nanoseconds time_in_window(const GroupUsage& group);

}  // namespace keplerd
