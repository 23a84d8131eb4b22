// SPDX-License-Identifier: Apache-2.0
#include "usage/saved_processes.h"

#include <limits>
#include <vector>

#include "usage/process_table.h"

namespace keplerd {
namespace {

constexpr std::uint64_t kGone = std::numeric_limits<std::uint64_t>::max();  // no incarnation

}  // namespace

SavedProcesses::SavedProcesses(const SavedUsage& saved) : boottime_(saved.boottime) {
  for (const SavedUsage::Process& process : saved.processes) processes_.emplace(process.id, process);
}

void SavedProcesses::find_groups(const UsageSample& sample) {
  incarnations_ = {{0, 0}};
  for (const GroupUsage& group : sample.groups) incarnations_[group.identity] = group.incarnation;
}

std::optional<ProcessUsage::Before> SavedProcesses::before(ProcessId id, Nanoseconds usage) const {
  const auto process = processes_.find(id);
  if (process == processes_.end() || process->second.usage > usage) return std::nullopt;
  const auto group = incarnations_.find(process->second.group);
  return ProcessUsage::Before{group == incarnations_.end() ? kGone : group->second, process->second.usage};
}

std::vector<SavedUsage::Process> ProcessTable::all() const {
  std::vector<SavedUsage::Process> saved;
  for (const auto& [pid, process] : processes_) {
    if (!process.unread && !is_behind(process.group) && age_of(process) != Age::kOlder)
      saved.push_back({process.id, process.group, process.usage});
  }
  return saved;
}

}  // namespace keplerd
