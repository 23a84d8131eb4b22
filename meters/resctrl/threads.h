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

// The threads of a cgroup (below the root of cgroup2, without a leading slash) and of those below it, as far
// as they can be read; of 20,000 cgroups at most.
std::set<std::int32_t> threads_in(const HostRoot& host, const std::string& cgroup);

}  // namespace keplerd::resctrl
