// SPDX-License-Identifier: Apache-2.0
#include "usage/process_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "host/host_root.h"
#include "usage/cgroup_tree.h"
#include "usage/process_clock.h"

namespace keplerd {
namespace {

constexpr Nanoseconds kScanPeriod = std::chrono::seconds(10);
constexpr std::size_t kCgroupFileLimit = 64 << 10;
constexpr std::uint32_t kRoot = 0;

bool has_moved(const GroupUsage& group) { return !group.before || group.usage != *group.before; }

std::uint64_t incarnation_of(std::size_t group, const UsageSample& sample) {
  return group == kNoGroup ? 0 : sample.groups[group].incarnation;
}

std::size_t find_group(std::uint64_t incarnation, const UsageSample& sample) {
  const auto group = std::ranges::find(sample.groups, incarnation, &GroupUsage::incarnation);
  return group == sample.groups.end() ? kNoGroup : static_cast<std::size_t>(group - sample.groups.begin());
}

}  // namespace

void ProcessTable::read(CgroupTree* tree, Nanoseconds boottime, UsageSample& sample) {
  ++sample_;
  // The first sample tells of all, the others of few.
  if (sample.processes.size() < sample.processes.capacity() / 4) sample.processes.shrink_to_fit();
  sample.processes.clear();
  sample.ended.clear();
  if (sample.groups.empty()) tree = nullptr;
  by_group_ = tree != nullptr && host_.has_own_procfs();
  scan_due_ = !last_scan_ || boottime - *last_scan_ >= kScanPeriod;
  if (scan_due_) last_scan_ = boottime;
  if (by_group_) {
    read_moved(*tree, sample);
    if (scan_due_) scan(*tree, sample);
    drop_missing(sample);
  } else {
    read_all(tree, sample);
  }
  last_boottime_ = boottime;
}

// The processes of every group that moved, and those in the root.
void ProcessTable::read_moved(CgroupTree& tree, UsageSample& sample) {
  forget_groups(sample);
  look_into(tree, kNoGroup, sample);
  for (std::size_t i = 0; i < sample.groups.size(); ++i) {
    if (has_moved(sample.groups[i])) look_into(tree, i, sample);
  }
}

void ProcessTable::look_into(CgroupTree& tree, std::size_t index, UsageSample& sample) {
  Group& group = groups_[incarnation_of(index, sample)];
  group.looked_before = std::exchange(group.looked, sample_);
  tree.read_pids(index, pids_);
  left_out_ -= group.left_out;
  left_out_ += group.left_out = read_pids(index, sample);
  if (pids_ == group.pids) return;
  note_missing(group.pids);
  group.pids = pids_;
}

// Adds those in pids_, of the group at `index`, to the sample; how many of them the limits have left out.
std::size_t ProcessTable::read_pids(std::size_t index, UsageSample& sample) {
  if (pids_.size() > limits_.in_group) put_known_first();
  std::size_t reported = 0;
  for (const std::int32_t pid : pids_) {
    if (!has_room(index, reported) && !processes_.contains(pid)) continue;
    read_one({pid, index}, sample);
    ++reported;
  }
  return pids_.size() - reported;
}

// For they are told apart before those who are new.
void ProcessTable::put_known_first() {
  std::partition(pids_.begin(), pids_.end(), [this](std::int32_t pid) { return processes_.contains(pid); });
}

// Whether one that is not known yet is taken up, after `told` of its group.
bool ProcessTable::has_room(std::size_t group, std::size_t reported) const {
  return group == kNoGroup || (reported < limits_.in_group && processes_.size() < limits_.all);
}

// Those that were there before and are not among pids_.
void ProcessTable::note_missing(std::vector<std::int32_t>& before) {
  sorted_ = pids_;
  std::ranges::sort(sorted_);
  std::ranges::sort(before);
  std::ranges::set_difference(before, sorted_, std::back_inserter(missing_));
}

// What was in a group that is gone is somewhere else now, or gone too.
void ProcessTable::forget_groups(const UsageSample& sample) {
  std::uint64_t sum = 0;
  for (const GroupUsage& group : sample.groups) sum += group.incarnation;
  if (sum == group_sum_ && sample.groups.size() == group_count_) return;
  group_sum_ = sum;
  group_count_ = sample.groups.size();

  std::unordered_set<std::uint64_t> there{0};
  for (const GroupUsage& group : sample.groups) there.insert(group.incarnation);
  std::erase_if(groups_, [&](const auto& entry) {
    const bool gone = !there.contains(entry.first);
    if (!gone) return false;
    missing_.insert(missing_.end(), entry.second.pids.begin(), entry.second.pids.end());
    left_out_ -= entry.second.left_out;
    return true;
  });
}

// Looks at all of /proc, for what no group that moved has told: who came into the others, who is gone from
// them or has another user now. As long as there are more processes than are told apart, those who came are
// not looked for: as their groups have not moved, they have used nothing.
void ProcessTable::scan(CgroupTree& tree, UsageSample& sample) {
  if (!list_processes(host_.procfs(), pids_)) return;
  for (const std::int32_t pid : missing_) {
    if (processes_.contains(pid)) read_one({pid, group_of(pid, &tree)}, sample);
  }
  for (const std::int32_t pid : pids_) {
    const auto known = processes_.find(pid);
    if (known != processes_.end()) {
      known->second.listed = true;
    } else if (left_out_ == 0 && processes_.size() < limits_.all) {
      read_one({pid, group_of(pid, &tree)}, sample);
    }
  }
  for (auto& [pid, process] : processes_) {
    const bool listed = std::exchange(process.listed, false);
    if (process.seen == sample_) continue;
    if (!listed) missing_.push_back(pid);
    if (!process.moved) process.comm_file.reset();
    if (process.moved && look_at_user(process, false))
      report(process, find_group(process.group, sample), false, {{process.group, process.usage}}, sample);
  }
}

// Forgets those that are gone. The others are in a group that was not looked into, or are zombies.
void ProcessTable::drop_missing(UsageSample& sample) {
  std::erase_if(missing_, [&](std::int32_t pid) {
    const auto known = processes_.find(pid);
    if (known == processes_.end() || known->second.seen == sample_) return true;
    if (read_process_clock(pid)) return false;
    sample.ended.push_back(known->second.id);
    processes_.erase(known);
    return true;
  });
}

void ProcessTable::read_all(CgroupTree* tree, UsageSample& sample) {
  std::unordered_map<std::int32_t, std::size_t> groups;
  const auto take = [&](std::size_t group) {
    tree->read_pids(group, pids_);
    for (const std::int32_t pid : pids_) groups.emplace(pid, group);
  };
  for (std::size_t i = 0; i < sample.groups.size(); ++i) take(i);
  if (tree != nullptr) take(kNoGroup);

  if (!list_processes(host_.procfs(), pids_)) return;
  put_known_first();
  left_out_ = 0;
  std::vector<std::size_t> reported(sample.groups.size());
  for (const std::int32_t pid : pids_) {
    const auto found = groups.find(pid);
    const std::size_t group = found != groups.end() ? found->second : group_of(pid, tree);
    if (group != kNoGroup && !has_room(group, reported[group]++) && !processes_.contains(pid)) {
      ++left_out_;
    } else {
      read_one({pid, group}, sample);
    }
  }
  std::erase_if(processes_, [&](const auto& entry) {
    const bool gone = entry.second.seen != sample_;
    if (gone) sample.ended.push_back(entry.second.id);
    return gone;
  });
}

// For what no cgroup.procs lists: zombies, and written trees that have no such files.
std::size_t ProcessTable::group_of(std::int32_t pid, CgroupTree* tree) const {
  if (tree == nullptr) return kNoGroup;
  const auto text = read_text(host_.procfs(), (std::to_string(pid) + "/cgroup").c_str(), kCgroupFileLimit);
  return text ? tree->find(parse_process_cgroup(*text)) : kNoGroup;
}

// Adds a process that was found to the sample, if there is something to tell of it.
void ProcessTable::read_one(const Seen& seen, UsageSample& sample) {
  const auto known = processes_.find(seen.pid);
  if (known == processes_.end()) return take_up(seen, sample);
  Process& process = known->second;
  if (process.seen == sample_) return;  // moved while it was looked for

  const ProcessUsage::Before last{process.group, process.usage};
  const bool seen_before = was_seen_before(process);  // else its time is of more than this window
  const State state = refresh(process);
  if (state == State::kGone) {
    sample.ended.push_back(process.id);
    processes_.erase(known);
    return take_up(seen, sample);
  }
  process.seen = sample_;
  process.group = incarnation_of(seen.group, sample);
  const bool renamed = state == State::kRenamed;
  const bool has_other_user = (renamed || (scan_due_ && process.moved)) && look_at_user(process, renamed);
  if (process.usage == last.usage && process.group == last.group && !renamed && !has_other_user) return;
  report(process, seen.group, renamed, seen_before ? std::optional(last) : std::nullopt, sample);
}

// One that was not known.
void ProcessTable::take_up(const Seen& seen, UsageSample& sample) {
  auto stat = read_stat(seen.pid);
  if (!stat) return;
  Process& process = processes_[seen.pid];
  process.id = stat->id;
  process.usage = stat->usage;
  process.comm = escape_name(stat->comm);
  process.group = incarnation_of(seen.group, sample);
  process.seen = sample_;
  process.parent = stat->parent;
  process.kernel_thread = stat->kernel_thread;
  look_at_user(process, true);
  // What was born since and is in no group has used all its time there: no group's time could tell.
  const bool born_since = last_boottime_ && Nanoseconds(kTick * stat->id.start) >= *last_boottime_;
  std::optional<ProcessUsage::Before> before;
  if (born_since && seen.group == kNoGroup) before = ProcessUsage::Before{};
  report(process, seen.group, true, before, sample);
}

// Whether what is known of its time is that of the sample before: it was seen when its group was last looked
// into, or since, and neither has moved in between.
bool ProcessTable::was_seen_before(const Process& process) const {
  if (!by_group_) return process.seen + 1 == sample_;
  const auto group = groups_.find(process.group);
  if (group == groups_.end()) return false;
  const bool looked_now = group->second.looked == sample_;
  return process.seen >= (looked_now ? group->second.looked_before : group->second.looked);
}

void ProcessTable::report(const Process& process, std::size_t group, bool fresh,
                          std::optional<ProcessUsage::Before> before, UsageSample& sample) {
  sample.processes.push_back({.id = process.id,
                              .parent = process.parent,
                              .comm = process.comm,
                              .fresh = fresh,
                              .kernel_thread = process.kernel_thread,
                              .user = process.user,
                              .real_user = process.real_user,
                              .group = group,
                              .usage = process.usage,
                              .before = before});
}

// One that hides from its user has a directory of root's. Only there the status, which costs ten times as
// much, is read, and not again as long as the owner and the program stay. True where the user is another than
// before.
bool ProcessTable::look_at_user(Process& process, bool is_new) const {
  process.moved = false;
  const std::string directory = std::to_string(process.id.pid);
  const auto owner = read_owner(host_.procfs(), directory.c_str());
  if (!owner) return false;
  const bool known = process.user && *owner == process.owner && !is_new;
  process.owner = *owner;
  if (known) return false;
  const auto before = std::exchange(process.user, *owner);
  const auto real_before = std::exchange(process.real_user, std::nullopt);
  if (*owner == kRoot) {
    std::array<char, 512> buffer;
    const auto status = read_beginning(host_.procfs(), (directory + "/status").c_str(), buffer);
    if (const auto users = status ? parse_process_users(*status) : std::nullopt) {
      process.user = users->effective;
      if (users->real != users->effective) process.real_user = users->real;
    }
  }
  return process.user != before || process.real_user != real_before;
}

// Reads the CPU time of a process that is known already. Gone is one whose pid is another's now, too.
ProcessTable::State ProcessTable::refresh(Process& process) {
  if (host_.has_own_procfs()) return refresh_by_clock(process);
  const auto stat = read_stat(process.id.pid);
  if (!stat || stat->id != process.id || stat->usage < process.usage) return State::kGone;
  if (std::exchange(process.usage, stat->usage) != stat->usage) process.moved = true;
  return rename(process, stat->comm);
}

ProcessTable::State ProcessTable::refresh_by_clock(Process& process) {
  const auto usage = read_process_clock(process.id.pid);
  if (!usage || *usage < process.usage) return State::kGone;
  if (*usage == process.usage) {
    // After a while it holds no descriptor any more.
    if (scan_due_ && !process.moved) process.comm_file.reset();
    return State::kSame;
  }
  const State state = read_comm(process);
  if (state == State::kGone) return state;
  process.usage = *usage;
  process.moved = true;
  return state;
}

// Whether the pid, whose clock was just read, is still the same process; learns its name on the way.
ProcessTable::State ProcessTable::read_comm(Process& process) {
  std::array<char, 64> buffer;
  if (process.comm_file) {
    const auto comm = process.comm_file->read(buffer);
    if (!comm) return State::kGone;
    return rename(process, comm->substr(0, comm->size() - (comm->ends_with('\n') ? 1 : 0)));
  }
  const auto stat = read_stat(process.id.pid);
  if (!stat || stat->id != process.id) return State::kGone;
  auto file = KeptFile::open(host_.procfs(), std::to_string(process.id.pid) + "/comm", limits_.descriptors);
  if (file && file->is_held()) process.comm_file = std::make_unique<KeptFile>(*std::move(file));
  return rename(process, stat->comm);
}

ProcessTable::State ProcessTable::rename(Process& process, std::string_view comm) {
  std::string escaped = escape_name(comm);
  if (escaped == process.comm) return State::kSame;
  process.comm = std::move(escaped);
  return State::kRenamed;
}

Result<ProcessStat> ProcessTable::read_stat(std::int32_t pid) const {
  alignas(64) std::array<char, 4096> buffer;  // searched word by word
  const auto text = read_file(host_.procfs(), (std::to_string(pid) + "/stat").c_str(), buffer);
  if (!text) return text.error();
  auto stat = parse_process_stat(*text);
  if (!stat) return stat.error();
  if (stat->id.pid != pid) return Error{"/proc/PID/stat: of another process"};
  if (host_.has_own_procfs()) {
    const auto usage = read_process_clock(pid);
    if (!usage) return Error{"no such process"};
    stat->usage = *usage;
  }
  return stat;
}

}  // namespace keplerd
