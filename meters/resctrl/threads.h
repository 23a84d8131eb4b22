// SPDX-License-Identifier: Apache-2.0
// Threads of groups of resctrl and of cgroups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace keplerd {
class HostRoot;
}

namespace keplerd::resctrl {

inline constexpr std::size_t kLongestList = 8 << 20;  // bytes

// Thread ids, one per line ("tasks" of resctrl, "cgroup.threads"), sorted; lines that are none are ignored.
std::vector<std::int32_t> parse_threads(std::string_view text);

// The tasks of a group of resctrl, by its path as Group has it.
Result<std::vector<std::int32_t>> read_tasks(const HostRoot& host, const std::string& group);

// The group that a thread is in.
struct Membership {
  std::string control;     // the name of the control group; "/": the default one
  std::string monitoring;  // that of the monitoring group inside it; empty: none

  bool operator==(const Membership&) const = default;
};
// As /proc/TID/cpu_resctrl_groups has it ("res:/", "mon:NAME"). Fails if the thread has ended; with EBADMSG
// if no group is in it.
Result<Membership> read_membership(const HostRoot& host, std::int32_t thread);

// The threads of a cgroup (below the root of cgroup2, without a leading slash) and of those below it, as far
// as they can be read; of 20,000 cgroups at most.
std::set<std::int32_t> threads_in(const HostRoot& host, const std::string& cgroup);

}  // namespace keplerd::resctrl
