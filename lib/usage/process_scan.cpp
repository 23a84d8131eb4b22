// SPDX-License-Identifier: Apache-2.0
// The parts of the process table that go through all of /proc.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "host/host_root.h"
#include "usage/cgroup_tree.h"
#include "usage/process_table.h"

namespace keplerd {

// Looks for changes in groups whose lists were not read: processes that appeared or disappeared, or have
// another user now.
void ProcessTable::scan(CgroupTree& tree, UsageSample& sample) {
  drop_gone(unlisted_, sample);
  for (const std::int32_t pid : missing_) {
    if (!processes_.contains(pid)) continue;
    read_one({pid, group_of(pid, &tree)}, sample);
    unlisted_.push_back(pid);
  }
  std::ranges::sort(unlisted_);
  unlisted_.erase(std::unique(unlisted_.begin(), unlisted_.end()), unlisted_.end());
  const bool none_created = listed_forks_ != 0 && listed_forks_ == sample.forks;
  const bool has_list = list_due_ && !none_created && list_all(tree, sample);
  if (none_created || has_list) last_list_ = now_;
  for (auto& [pid, process] : processes_) {
    if (is_current(process)) continue;
    if (has_list && !std::ranges::binary_search(pids_, pid)) missing_.push_back(pid);
    if (!process.has_run) process.comm_file.reset();
    if (is_user_due(process) && refresh_user(process, false))
      report(process, group_with(sample, process.group), false, {{process.group, process.usage}}, sample);
  }
}

// Sets pids_ to all processes in /proc, sorted, and reads the new ones; false if /proc cannot be listed.
// While the limits leave some out, new ones are not searched for: as their groups' time has not changed, they
// have used nothing. Not needed if no process has been created since all were known: those in idle groups
// have not ended either, because that takes CPU time.
bool ProcessTable::list_all(CgroupTree& tree, UsageSample& sample) {
  listed_forks_ = 0;
  if (!list_processes(host_.procfs(), pids_)) return false;
  bool knows_all = true;
  for (const std::int32_t pid : pids_) {
    if (processes_.contains(pid)) continue;
    if (left_out_ == 0 && processes_.size() < limits_.all) read_one({pid, group_of(pid, &tree)}, sample);
    knows_all = knows_all && processes_.contains(pid);
  }
  std::ranges::sort(pids_);
  if (knows_all) listed_forks_ = sample.forks;
  return true;
}

// Where /proc is read as a whole: the groups whose processes are read now.
void ProcessTable::begin_due(const UsageSample& sample) {
  begin_group(groups_[0]);
  for (std::size_t i = 0; i < sample.groups.size(); ++i)
    if (is_due(i)) begin_group(groups_[sample.groups[i].incarnation]);
}

// Those of which not all have been read; `members`: how many each has.
void ProcessTable::leave_others_behind(const std::vector<std::size_t>& members, const UsageSample& sample) {
  for (std::size_t i = 0; i < sample.groups.size(); ++i) {
    if (is_due(i)) continue;
    Group& group = groups_[sample.groups[i].incarnation];
    if (members[i] == 0) {
      begin_group(group);
    } else if (has_moved(sample.groups[i])) {
      leave_behind(sample.groups[i], group);
    }
  }
}

void ProcessTable::read_all(CgroupTree* tree, UsageSample& sample) {
  std::unordered_map<std::int32_t, std::size_t> groups;
  const auto take = [&](std::size_t group) {
    tree->read_pids(group, pids_);
    for (const std::int32_t pid : pids_) groups.emplace(pid, group);
  };
  for (std::size_t i = 0; i < sample.groups.size(); ++i) take(i);
  if (tree != nullptr) take(kNoGroup);

  begin_due(sample);
  if (!list_processes(host_.procfs(), pids_)) return;
  last_list_ = now_;
  put_known_first();
  left_out_ = 0;
  std::vector<std::size_t> reported(sample.groups.size());
  std::unordered_set<std::int32_t> waiting;
  for (const std::int32_t pid : pids_) {
    const auto found = groups.find(pid);
    const std::size_t group = found != groups.end() ? found->second : group_of(pid, tree);
    if (group != kNoGroup && !has_room(group, reported[group]++) && !processes_.contains(pid)) {
      ++left_out_;
    } else if (may_wait({pid, group}, sample)) {
      waiting.insert(pid);
    } else {
      read_one({pid, group}, sample);
    }
  }
  leave_others_behind(reported, sample);
  std::erase_if(processes_, [&](const auto& entry) {
    const bool gone = !is_current(entry.second) && !waiting.contains(entry.first);
    if (gone) sample.ended.push_back(entry.second.id);
    return gone;
  });
}

}  // namespace keplerd
