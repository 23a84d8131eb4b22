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
constexpr Nanoseconds kCheckPeriod = std::chrono::minutes(1);
constexpr Nanoseconds kUnwantedPeriod = std::chrono::minutes(10);  // instead of both, for what nobody wants
constexpr std::size_t kCgroupFileLimit = 64 << 10;

// Whether a kernel thread with this name is a worker, whose name is what it works on, and so changes all the
// time. No program can be executed under a name with a slash.
bool names_a_worker(std::string_view comm) { return comm.starts_with("kworker/"); }

std::uint64_t incarnation_of(std::size_t group, const UsageSample& sample) {
  return group == kNoGroup ? 0 : sample.groups[group].incarnation;
}

}  // namespace

void ProcessTable::read(CgroupTree* tree, Nanoseconds boottime, UsageSample& sample) {
  ++sample_;
  // The first sample reports all processes, later ones only a few.
  if (sample.processes.size() < sample.processes.capacity() / 4) sample.processes.shrink_to_fit();
  sample.processes.clear();
  sample.ended.clear();
  fallen_behind_.clear();
  if (sample.groups.empty()) tree = nullptr;
  by_group_ = tree != nullptr && host_.has_own_procfs();
  const auto has_passed = [boottime](const std::optional<Nanoseconds>& last, Nanoseconds period) {
    return !last || boottime - *last >= period;
  };
  // The lists of groups do not name the processes of those that are left out.
  const bool is_wanted = demand_.all || (tree != nullptr && tree->left_out() > 0);
  list_due_ = has_passed(last_list_, is_wanted ? kScanPeriod : kUnwantedPeriod);
  check_period_ = is_wanted ? kCheckPeriod : kUnwantedPeriod;
  scan_due_ = has_passed(last_scan_, kScanPeriod) || (is_wanted && list_due_);
  if (scan_due_) last_scan_ = boottime;
  users_due_ = scan_due_ && (is_wanted || has_passed(last_users_, kCheckPeriod));
  if (users_due_) last_users_ = boottime;
  if (saved_) saved_->find_groups(sample);
  now_ = boottime;
  forget_groups(sample);
  choose_groups(sample);
  if (by_group_) {
    read_moved(*tree, sample);
    if (scan_due_) scan(*tree, sample);
    drop_gone(missing_, sample);
    missing_.insert(missing_.end(), missing_next_.begin(), missing_next_.end());
    missing_next_.clear();
  } else {
    read_all(tree, sample);
  }
  mark_behind(sample);
  last_boottime_ = boottime;
  saved_.reset();
}

// Reads the lists of all active groups, the processes of those that are due, and those in the root.
void ProcessTable::read_moved(CgroupTree& tree, UsageSample& sample) {
  const bool are_same = are_same_outside(tree);
  if (!are_same) read_group(tree, kNoGroup, sample);
  for (std::size_t i = 0; i < sample.groups.size(); ++i) {
    const GroupUsage& group = sample.groups[i];
    const bool catches_up = any_behind_ && is_due(i) && is_behind(group.incarnation);
    if (sample_ == 1 || has_moved(group) || catches_up) read_group(tree, i, sample);
  }
  if (are_same) read_old_list(kNoGroup, groups_[0], sample);  // last: they may have moved to those groups
}

void ProcessTable::read_group(CgroupTree& tree, std::size_t index, UsageSample& sample) {
  Group& group = groups_[incarnation_of(index, sample)];
  // In later samples, a process may have come whose event is still on its way.
  if (sample_ == 1 && tree.is_empty(index)) return begin_group(group);
  if (!is_due(index) && tree.has_same_tasks(index)) return put_off(index, group, sample);

  const bool was_tried = may_use_old_list(tree, index, group) && tree.has_same_tasks(index);
  if (was_tried && read_by_old_list(index, group, sample)) return;
  if (!tree.read_pids(index, pids_)) {
    if (was_tried) {
      group.time.end();
    } else if (index != kNoGroup) {
      leave_behind(sample.groups[index], group);
    }
    return;
  }
  group.list_read_at = now_;
  if (is_due(index) && !was_tried) begin_reading(index, group, sample);
  left_out_ -= group.left_out;
  left_out_ += group.left_out = read_pids(index, group, List::kNew, sample);
  if (pids_ != group.pids) {
    note_missing(group.pids, was_tried ? missing_next_ : missing_);
    group.pids = pids_;
  }
  is_due(index) ? group.time.end() : put_off(index, group, sample);
}

// Known processes take precedence over new ones.
void ProcessTable::put_known_first() {
  std::partition(pids_.begin(), pids_.end(), [this](std::int32_t pid) { return processes_.contains(pid); });
}

// Whether there is room for a new process, given that `reported` of its group are in the sample.
bool ProcessTable::has_room(std::size_t group, std::size_t reported) const {
  return group == kNoGroup || (reported < limits_.in_group && processes_.size() < limits_.all);
}

// Records in `missing` the processes that were there before and are not among pids_.
void ProcessTable::note_missing(std::vector<std::int32_t>& before, std::vector<std::int32_t>& missing) {
  sorted_ = pids_;
  std::ranges::sort(sorted_);
  std::ranges::sort(before);
  std::ranges::set_difference(before, sorted_, std::back_inserter(missing));
}

// Processes of a group that is gone have moved elsewhere, or are gone too.
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

// Drops processes that are gone, and those that were read in this sample from `pids`. The others are in a
// group whose list was not read, or are zombies.
void ProcessTable::drop_gone(std::vector<std::int32_t>& pids, UsageSample& sample) {
  std::erase_if(pids, [&](std::int32_t pid) {
    const auto known = processes_.find(pid);
    if (known == processes_.end() || is_current(known->second)) return true;
    if (read_process_clock(pid)) return false;
    sample.ended.push_back(known->second.id);
    processes_.erase(known);
    return true;
  });
}

// For processes in no cgroup.procs: zombies, and written trees without such files.
std::size_t ProcessTable::group_of(std::int32_t pid, const CgroupTree* tree) const {
  if (tree == nullptr) return kNoGroup;
  const auto text = read_text(host_.procfs(), (std::to_string(pid) + "/cgroup").c_str(), kCgroupFileLimit);
  return text ? tree->find(parse_process_cgroup(*text)) : kNoGroup;
}

// Adds a process that was found to the sample, if it has anything to report.
// Returns what it has used in this group since it was last read, if that is known.
Nanoseconds ProcessTable::read_one(const Found& found, UsageSample& sample) {
  constexpr Nanoseconds kUnknown{0};
  const auto known = processes_.find(found.pid);
  if (known == processes_.end()) {
    take_up(found, sample);
    return kUnknown;
  }
  Process& process = known->second;
  const Age age = age_of(process);
  if (age == Age::kCurrent) return kUnknown;  // it moved while the lists were being read

  const ProcessUsage::Before last{process.group, process.usage};
  const State state = refresh(process);
  if (state == State::kGone) {
    sample.ended.push_back(process.id);
    processes_.erase(known);
    take_up(found, sample);
    return kUnknown;
  }
  process.read_in = sample_;
  process.passed_over = false;
  process.group = incarnation_of(found.group, sample);
  if (process.group != last.group) settle_later(process.group);
  const bool was_unread = std::exchange(process.unread, state == State::kUnread);
  if (process.unread) return kUnknown;
  const bool renamed = state == State::kRenamed;
  const bool is_worker = process.kernel_thread && names_a_worker(process.comm);
  const bool looks_at_user = (renamed && !is_worker) || is_user_due(process);
  const bool has_other_user = looks_at_user && refresh_user(process, renamed);
  if (process.usage == last.usage && process.group == last.group && !renamed && !has_other_user)
    return Nanoseconds{0};
  const bool knows_last = age == Age::kLast && !was_unread;
  report(process, found.group, renamed, knows_last ? std::optional(last) : std::nullopt, sample);
  return knows_last && process.group == last.group ? process.usage - last.usage : kUnknown;
}

// A process that was not known. Not from an old list: it may be in another group by now.
void ProcessTable::take_up(const Found& found, UsageSample& sample) {
  if (found.list == List::kOld) return;
  auto stat = read_stat(found.pid);
  if (!stat) return;
  Process& process = processes_[found.pid];
  process.id = stat->id;
  process.usage = stat->usage;
  process.comm = escape_name(stat->comm);
  process.group = incarnation_of(found.group, sample);
  process.read_in = sample_;
  process.active = true;
  process.parent = stat->parent;
  process.kernel_thread = stat->kernel_thread;
  settle_later(process.group);
  refresh_user(process, true);
  auto before = saved_ ? saved_->before(process.id, process.usage) : std::nullopt;
  // A new process outside any group used all its time in this window: no group's time includes it.
  const auto last = saved_ ? saved_->boottime() : last_boottime_;
  const bool born_since = last && Nanoseconds(kTick * stat->id.start) >= *last;
  if (!before && born_since && found.group == kNoGroup) before = ProcessUsage::Before{};
  report(process, found.group, true, before, sample);
}

ProcessTable::Age ProcessTable::age_of(const Process& process) const {
  if (is_current(process)) return Age::kCurrent;
  if (process.read_in == sample_) return Age::kLast;
  const auto group = groups_.find(process.group);
  if (group == groups_.end()) {
    const bool has_gone = by_group_ || process.read_in + 1 < sample_;
    return has_gone ? Age::kOlder : Age::kLast;
  }
  // The sample in which all known processes of its group were read.
  const Group& of = group->second;
  const std::uint64_t last = of.read_in == sample_ ? of.read_before : of.read_in;
  return process.read_in >= last ? Age::kLast : Age::kOlder;
}

void ProcessTable::report(const Process& process, std::size_t group, bool fresh,
                          std::optional<ProcessUsage::Before> before, UsageSample& sample) {
  sample.processes.push_back({.id = process.id,
                              .parent = process.parent,
                              .comm = process.comm,
                              .fresh = fresh,
                              .kernel_thread = process.kernel_thread,
                              .user = process.user.effective(),
                              .real_user = process.user.real(),
                              .group = group,
                              .usage = process.usage,
                              .before = before});
}

// Without executing a program, a process mostly takes another user soon after its start.
bool ProcessTable::is_user_due(const Process& process) const {
  if (!scan_due_ || !process.has_run) return false;
  return users_due_ || now_ - Nanoseconds(kTick * process.id.start) < kCheckPeriod;
}

bool ProcessTable::refresh_user(Process& process, bool renamed) const {
  process.has_run = false;
  return process.user.refresh(host_, process.id.pid, renamed);
}

// Reads the CPU time of a known process. It is also gone if its pid now belongs to another process.
ProcessTable::State ProcessTable::refresh(Process& process) {
  if (host_.has_own_procfs()) return refresh_by_clock(process);
  const auto stat = read_stat(process.id.pid);
  if (!stat) return state_after(stat.error());
  if (stat->id != process.id || stat->usage < process.usage) return State::kGone;
  if (std::exchange(process.usage, stat->usage) != stat->usage) process.has_run = true;
  return rename(process, stat->comm);
}

ProcessTable::State ProcessTable::refresh_by_clock(Process& process) {
  const auto usage = read_process_clock(process.id.pid);
  if (!usage || *usage < process.usage) return State::kGone;
  if (*usage == process.usage) {
    // Idle for a while: its descriptor is released.
    if (scan_due_ && !process.has_run) {
      process.comm_file.reset();
      process.active = false;
    }
    return State::kSame;
  }
  const State state = read_comm(process);
  if (state == State::kGone || state == State::kUnread) return state;
  process.usage = *usage;
  process.has_run = process.active = true;
  return state;
}

// Of a process whose file cannot be read: only this host's want of memory or descriptors says nothing of it.
ProcessTable::State ProcessTable::state_after(const Error& error) {
  return is_shortage(error) ? State::kUnread : State::kGone;
}

// Whether the pid whose clock was just read still is the same process; also updates its name.
ProcessTable::State ProcessTable::read_comm(Process& process) {
  std::array<char, 64> buffer;
  if (process.comm_file) {
    const auto comm = process.comm_file->read(buffer);
    if (!comm) return State::kGone;
    return rename(process, comm->substr(0, comm->size() - (comm->ends_with('\n') ? 1 : 0)));
  }
  const auto stat = read_stat(process.id.pid);
  if (!stat) return state_after(stat.error());
  if (stat->id != process.id) return State::kGone;
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
