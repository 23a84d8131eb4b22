// SPDX-License-Identifier: Apache-2.0
// The part of the process table that decides whose processes are read.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "usage/cgroup_tree.h"
#include "usage/process_table.h"

namespace keplerd {
namespace {

// How long the processes of a group that is new or has got another one are read with each sample: a process
// mostly executes its program at once.
constexpr Nanoseconds kSettling = std::chrono::seconds(10);

// In a larger group, what a new process has used could be lost in the rounding of all times (GroupTime).
constexpr std::size_t kMostByOldList = 32;

}  // namespace

void ProcessTable::choose_groups(const UsageSample& sample) {
  const bool all = demand_.all || scan_due_ || sample_ == 1;
  due_.assign(sample.groups.size(), all ? 1 : 0);
  if (all) return;
  std::unordered_set<std::uint64_t> needed(demand_.groups.begin(), demand_.groups.end());
  for (const ProcessId id : demand_.needed) {
    const auto process = processes_.find(id.pid);
    if (process != processes_.end() && process->second.id == id) needed.insert(process->second.group);
  }
  for (std::size_t i = 0; i < due_.size(); ++i) {
    if (!has_moved(sample.groups[i])) continue;  // if it is behind, it may stay so
    const std::uint64_t incarnation = sample.groups[i].incarnation;
    const auto group = groups_.find(incarnation);
    const bool settles = group == groups_.end() || group->second.read_in == 0 || now_ < group->second.settled;
    due_[i] = settles || needed.contains(incarnation) ? 1 : 0;
  }
}

bool ProcessTable::is_behind(std::uint64_t group) const {
  const auto known = groups_.find(group);
  return known != groups_.end() && known->second.behind;
}

// All known processes of the group are about to be read, or passed over.
void ProcessTable::begin_group(Group& group) {
  if (group.read_in == 0) group.settled = now_ + kSettling;
  group.read_before = std::exchange(group.read_in, sample_);
  group.behind = false;
}

void ProcessTable::begin_reading(std::size_t index, Group& group, const UsageSample& sample) {
  begin_group(group);
  if (index != kNoGroup) group.time.begin(sample.groups[index].usage);
}

// Another process is in the group.
void ProcessTable::settle_later(std::uint64_t group) {
  const auto known = groups_.find(group);
  if (known != groups_.end()) known->second.settled = now_ + kSettling;
}

// Whether a process that was found is known to be in that group, and need not be read now.
bool ProcessTable::may_wait(const Found& found, const UsageSample& sample) const {
  if (is_due(found.group)) return false;
  const auto known = processes_.find(found.pid);
  return known != processes_.end() && known->second.group == sample.groups[found.group].incarnation;
}

// Whether the processes of the group are to be read, and probably are those that its last list names: they
// explained its time when they were last read. Not if there are groups in it, to which a process may have
// moved: its time, and their number, include those.
bool ProcessTable::may_use_old_list(const CgroupTree& tree, std::size_t index, const Group& group) const {
  return index != kNoGroup && is_due(index) && group.time.was_explained() && group.left_out == 0 &&
         group.pids.size() <= kMostByOldList && now_ - group.list_read_at < check_period_ &&
         !tree.has_groups_in(index);
}

// Returns whether the processes that the group's last list names explain its time: then no other has run in
// it.
bool ProcessTable::read_by_old_list(std::size_t index, Group& group, UsageSample& sample) {
  read_old_list(index, group, sample);
  if (!group.time.is_explained()) return false;
  group.time.end();
  return true;
}

// Whether the processes outside any group are probably those of the last list. Nothing explains their time:
// they are listed at least with each scan, and for a while after a new one, which may be on its way to a
// group.
bool ProcessTable::are_same_outside(CgroupTree& tree) {
  return !scan_due_ && now_ >= groups_[0].settled && tree.has_same_tasks(kNoGroup);
}

// Reads the processes that the last list of the group names, but for those that have moved since.
void ProcessTable::read_old_list(std::size_t index, Group& group, UsageSample& sample) {
  begin_reading(index, group, sample);
  pids_ = group.pids;
  read_pids(index, group, List::kOld, sample);
}

// Adds the processes in pids_, of the group at `index`, to the sample; returns how many the limits left out.
// Those that have not run lately are passed over if the others have used all that the group has; those that
// have moved since, if the list is old.
std::size_t ProcessTable::read_pids(std::size_t index, Group& group, List list, UsageSample& sample) {
  if (pids_.size() > limits_.in_group) put_known_first();
  const bool is_read = index != kNoGroup && is_due(index);
  const bool may_pass = is_read && now_ - group.all_read_at < check_period_;
  const std::uint64_t incarnation = index == kNoGroup ? 0 : sample.groups[index].incarnation;
  GroupTime& time = group.time;
  std::size_t reported = 0;
  idle_.clear();
  for (const std::int32_t pid : pids_) {
    const auto known = processes_.find(pid);
    const bool is_known = known != processes_.end();
    if (!is_known && !has_room(index, reported)) continue;
    ++reported;
    const bool is_in_group = is_known && known->second.group == incarnation;
    if (list == List::kOld && !is_in_group) continue;
    if (is_in_group && !is_due(index)) continue;
    if (may_pass && is_in_group && may_pass_over(known->second)) {
      idle_.push_back(pid);
      continue;
    }
    const Nanoseconds used = read_one({pid, index, list}, sample);
    if (is_read) time.add(used);
  }
  bool is_complete = true;
  for (const std::int32_t pid : idle_) {
    if (!time.is_explained()) {
      time.add(read_one({pid, index, list}, sample));
    } else if (const auto known = processes_.find(pid); known != processes_.end()) {
      known->second.read_in = sample_;
      known->second.passed_over = true;
      is_complete = false;
    }
  }
  if (is_read && is_complete) group.all_read_at = now_;
  return pids_.size() - reported;
}

// Whether all that was read of the process still holds if it has not run, and is still in its group.
bool ProcessTable::may_pass_over(const Process& process) const {
  return !process.active && !process.unread && age_of(process) == Age::kLast;
}

// The group has used CPU time, but the clocks of those in it, if there are any, are not read.
void ProcessTable::put_off(std::size_t index, Group& group, const UsageSample& sample) {
  if (group.pids.empty())
    begin_group(group);
  else
    leave_behind(sample.groups[index], group);
}

void ProcessTable::leave_behind(const GroupUsage& usage, Group& group) {
  if (std::exchange(group.behind, true)) return;
  any_behind_ = true;
  fallen_behind_.push_back(usage.identity);
}

void ProcessTable::mark_behind(UsageSample& sample) {
  if (!any_behind_) return;
  any_behind_ = false;
  for (GroupUsage& group : sample.groups) {
    group.behind = is_behind(group.incarnation);
    any_behind_ = any_behind_ || group.behind;
  }
}

}  // namespace keplerd
