// SPDX-License-Identifier: Apache-2.0
// The part of the process table that finds the processes which others have named.
#include <algorithm>

#include "usage/process_table.h"

namespace keplerd {

std::size_t ProcessTable::find(ProcessId id, UsageSample& sample) const {
  const auto known = processes_.find(id.pid);
  if (known == processes_.end() || known->second.id != id) return kNoProcess;
  const auto reported = std::ranges::find(sample.processes, id, &ProcessUsage::id);
  if (reported != sample.processes.end())
    return static_cast<std::size_t>(reported - sample.processes.begin());
  const Process& process = known->second;
  const std::size_t group = group_with(sample, process.group);
  if (group == kNoGroup && process.group != 0) return kNoProcess;  // its group is gone, and so may it be
  report(process, group, false, {{process.group, process.usage}}, sample);
  return sample.processes.size() - 1;
}

std::optional<std::size_t> ProcessTable::find_group(ProcessId id, const CgroupTree* tree) const {
  const auto stat = read_stat(id.pid);
  if (!stat || stat->id != id) return std::nullopt;
  return group_of(id.pid, tree);
}

}  // namespace keplerd
