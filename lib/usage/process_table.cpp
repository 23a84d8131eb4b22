// SPDX-License-Identifier: Apache-2.0
#include "usage/process_table.h"

#include <array>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "host/host_root.h"
#include "usage/cgroup_tree.h"
#include "usage/process_clock.h"

namespace keplerd {
namespace {

constexpr Nanoseconds kFullScanPeriod = std::chrono::seconds(10);
constexpr int kQuietSamples = 8;  // after which a descriptor is given back
constexpr std::size_t kCgroupFileLimit = 64 << 10;
constexpr std::uint32_t kRoot = 0;

}  // namespace

void ProcessTable::read(CgroupTree* tree, Nanoseconds boottime, UsageSample& sample) {
  ++sample_;
  found_.clear();
  quiet_.clear();
  ended_.clear();
  if (sample.groups.empty()) tree = nullptr;
  const bool by_group = tree != nullptr && host_.has_own_procfs();
  const bool scan_due = !last_full_scan_ || boottime - *last_full_scan_ >= kFullScanPeriod;
  bool all_found = false;
  if (by_group && !scan_due) {
    find_by_group(*tree, sample);
  } else {
    all_found = find_all(tree, sample);
    if (all_found) last_full_scan_ = boottime;
  }

  sample.processes.clear();
  for (const Seen& seen : found_) {
    Process* const process = read_one(seen, sample);
    if (process == nullptr) continue;
    if (process->fresh || scan_due) look_at_user(*process);
    sample.processes.back().user = process->user;
  }
  if (by_group || all_found) drop_ended(all_found);
  // The table does not change any more: now its strings can be referred to.
  for (ProcessUsage& process : sample.processes) process.comm = processes_.at(process.id.pid).comm;
  sample.ended = ended_;
  last_boottime_ = boottime;
}

// The processes of every group that moved, and those in the root.
void ProcessTable::find_by_group(CgroupTree& tree, const UsageSample& sample) {
  const auto take = [&](std::size_t group) {
    tree.read_pids(group, pids_);
    for (const std::int32_t pid : pids_) found_.push_back({pid, group});
  };
  take(kNoGroup);
  for (std::size_t i = 0; i < sample.groups.size(); ++i) {
    const GroupUsage& group = sample.groups[i];
    if (group.before && group.usage == *group.before) {
      quiet_.insert(group.incarnation);
    } else {
      take(i);
    }
  }
}

// False where /proc cannot be listed.
bool ProcessTable::find_all(CgroupTree* tree, const UsageSample& sample) {
  std::unordered_map<std::int32_t, std::size_t> groups;
  const auto take = [&](std::size_t group) {
    tree->read_pids(group, pids_);
    for (const std::int32_t pid : pids_) groups.emplace(pid, group);
  };
  for (std::size_t i = 0; i < sample.groups.size(); ++i) take(i);
  if (tree != nullptr) take(kNoGroup);

  const auto names = list_subdirectories(host_.procfs(), ".");
  if (!names) return false;
  for (const std::string& name : *names) {
    const auto pid = parse_number<std::int32_t>(name);
    if (!pid || *pid <= 0) continue;
    const auto group = groups.find(*pid);
    found_.push_back({*pid, group != groups.end() ? group->second : group_of(*pid, tree)});
  }
  return true;
}

// For what no cgroup.procs lists: zombies, and written trees that have no such files.
std::size_t ProcessTable::group_of(std::int32_t pid, CgroupTree* tree) const {
  if (tree == nullptr) return kNoGroup;
  const auto text = read_text(host_.procfs(), (std::to_string(pid) + "/cgroup").c_str(), kCgroupFileLimit);
  return text ? tree->find(parse_process_cgroup(*text)) : kNoGroup;
}

// Adds a process that was found to the sample. Null where it is gone, or in the sample already.
ProcessTable::Process* ProcessTable::read_one(const Seen& seen, UsageSample& sample) {
  auto known = processes_.find(seen.pid);
  if (known != processes_.end() && known->second.seen == sample_)
    return nullptr;  // moved while it was looked for
  std::optional<ProcessUsage::Before> before;
  if (known != processes_.end()) {
    const ProcessUsage::Before last{known->second.group, known->second.stat.usage};
    const bool seen_before = known->second.seen + 1 == sample_;  // else its time is of more than this window
    known->second.fresh = false;
    if (refresh(known->second)) {
      if (seen_before) before = last;
    } else {
      ended_.push_back(known->second.stat.id);
      processes_.erase(known);
      known = processes_.end();
    }
  }
  if (known == processes_.end()) {
    auto stat = read_stat(seen.pid);
    if (!stat) return nullptr;
    // What was born since and is in no group has used all its time there: no group's time could tell.
    const bool born_since = last_boottime_ && Nanoseconds(kTick * stat->id.start) >= *last_boottime_;
    if (born_since && seen.group == kNoGroup) before = ProcessUsage::Before{};
    Process process;
    process.comm = escape_name(stat->comm);
    process.stat = *std::move(stat);
    known = processes_.insert_or_assign(seen.pid, std::move(process)).first;
  }
  Process& process = known->second;
  process.seen = sample_;
  process.group = seen.group == kNoGroup ? 0 : sample.groups[seen.group].incarnation;
  sample.processes.push_back({.id = process.stat.id,
                              .parent = process.stat.parent,
                              .comm = {},
                              .fresh = process.fresh,
                              .kernel_thread = process.stat.kernel_thread,
                              .user = {},
                              .group = seen.group,
                              .usage = process.stat.usage,
                              .before = before});
  return &process;
}

// One that hides from its user has a directory of root's. Only there the status, which costs ten times as
// much, is read, and not again as long as the owner stays.
void ProcessTable::look_at_user(Process& process) const {
  const std::string directory = std::to_string(process.stat.id.pid);
  const auto owner = read_owner(host_.procfs(), directory.c_str());
  if (!owner) return;
  const bool known = process.user && *owner == process.owner && !process.fresh;
  process.owner = *owner;
  if (known) return;
  process.user = *owner;
  if (*owner != kRoot) return;
  std::array<char, 512> buffer;
  const auto status = read_beginning(host_.procfs(), (directory + "/status").c_str(), buffer);
  if (const auto user = status ? parse_process_user(*status) : std::nullopt) process.user = user;
}

// Reads the CPU time of a process that is known already. False where it is gone, or its pid is another's now.
bool ProcessTable::refresh(Process& process) {
  if (!host_.has_own_procfs()) {
    auto stat = read_stat(process.stat.id.pid);
    if (!stat || stat->id != process.stat.id || stat->usage < process.stat.usage) return false;
    rename(process, stat->comm);
    process.stat.usage = stat->usage;
    return true;
  }
  const auto usage = read_process_clock(process.stat.id.pid);
  if (!usage || *usage < process.stat.usage) return false;
  if (*usage == process.stat.usage) {
    rest(process);
    return true;
  }
  process.quiet = 0;
  if (!is_same(process)) return false;
  process.stat.usage = *usage;
  return true;
}

// Its clock did not move: after a while it holds no descriptor any more.
void ProcessTable::rest(Process& process) {
  if (++process.quiet > kQuietSamples) process.comm_file = KeptFile();
}

// Whether the pid, whose clock was just read, is still the same process; learns its name on the way.
bool ProcessTable::is_same(Process& process) {
  std::array<char, 64> buffer;
  if (process.comm_file) {
    const auto comm = process.comm_file.read(buffer);
    if (!comm) return false;
    const std::string_view name = comm->substr(0, comm->size() - (comm->ends_with('\n') ? 1 : 0));
    rename(process, name);
    return true;
  }
  const auto stat = read_stat(process.stat.id.pid);
  if (!stat || stat->id != process.stat.id) return false;
  rename(process, stat->comm);
  auto file = KeptFile::open(host_.procfs(), std::to_string(process.stat.id.pid) + "/comm");
  if (file) process.comm_file = *std::move(file);
  return true;
}

void ProcessTable::rename(Process& process, std::string_view comm) {
  if (comm == process.stat.comm) return;
  process.stat.comm = comm;
  process.comm = escape_name(comm);
  process.fresh = true;
}

Result<ProcessStat> ProcessTable::read_stat(std::int32_t pid) const {
  std::array<char, 4096> buffer;
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

// Forgets those that are gone: not found although all were looked for, or although their group was looked
// into.
void ProcessTable::drop_ended(bool all_found) {
  for (auto entry = processes_.begin(); entry != processes_.end();) {
    Process& process = entry->second;
    if (quiet_.contains(process.group)) {  // not looked for, since its clock stood still
      process.seen = sample_;
      rest(process);
    }
    // What was looked for and not found may have moved to a quiet group, or be a zombie.
    const bool gone = process.seen != sample_ && (all_found || !read_process_clock(entry->first));
    if (gone) ended_.push_back(process.stat.id);
    entry = gone ? processes_.erase(entry) : std::next(entry);
  }
}

}  // namespace keplerd
