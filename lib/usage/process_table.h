// SPDX-License-Identifier: Apache-2.0
// The host's processes and their CPU time. On this host's own /proc, a process is found by its cgroup and its
// CPU clock is read, and only if its group was active: the cost of a sample grows with activity, not with the
// number of processes. Under another procfs root, or without cgroup2, all of /proc is read.
//
// More than 20 methods: each way in which a process comes, moves and ends is one, on the same tables.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "host/kept_file.h"
#include "usage/group_time.h"
#include "usage/process_demand.h"
#include "usage/process_stat.h"
#include "usage/process_user.h"
#include "usage/saved_processes.h"
#include "usage/saved_usage.h"
#include "usage/usage_sample.h"

namespace keplerd {

class CgroupTree;
class HostRoot;

// New processes beyond these are not tracked individually: their time is part of their group's own. Known
// ones stay tracked, and outside any group all are, because nothing else accounts for their usage.
struct ProcessLimits {
  std::size_t all = 100'000;
  std::size_t in_group = 20'000;            // so that a fork bomb leaves room for other groups
  DescriptorBudget* descriptors = nullptr;  // outlives the table; null: no bound
};

// How current is the information? Five things are read at different times, none more often than it may have
// changed:
//
//   a group's list of processes   with each sample in which the group's CPU time has changed; but once a
//                                 minute only (every ten, while nobody wants processes) if as many threads
//                                 are in it as before, and the processes that were in it have used all that
//                                 it has (GroupTime)
//   that of those in none         with each sample; but every ten seconds only if no process was created on
//                                 the host since, and none was found there in the ten seconds before
//   a process's clock and name    with each sample in which the group's CPU time has changed; but as
//                                 seldom as a list if others have used all that the group has: it is passed
//                                 over
//   all of /proc                  every ten seconds while somebody wants processes, else every ten minutes
//   a process's user              when it is new or renamed (workers of the kernel rename themselves all the
//                                 time, and are excepted), and every ten seconds if it has run (every
//                                 minute, while nobody wants processes, after its first one)
//
// An idle group vouches for its processes: none of them has run, so what was read of them along with the
// group's last list is still true. So do, for those that are passed over, the others that explain the group's
// time. Age classifies a process accordingly:
//
//   kCurrent  read in this sample
//   kLast     read when its group's list was last read before this sample, or later, or passed over in this
//             sample: what its clock has advanced since then belongs to this window
//   kOlder    its group's list was read since, without it (it was in another, idle group, or a zombie, or
//             beyond the limits): its clock has advanced over more than this window, and none of that is
//             attributed to the window (likewise if its last reading failed: Process::unread)
//
// While nobody wants processes (ProcessDemand), the clocks of a group's known processes are left out: its
// list is read as ever, unless the number of its threads is the same as before, so that processes which are
// new, have moved or have ended are mostly found as soon; but those that stay are read every ten seconds, and
// the group is *behind* in between. Where that number is not known, the list is read if a process was created
// on the host since it was last read: one that only moves or ends may be found later. "Its group's list was
// read" means: the processes that it, or an earlier one, names were read. The processes of a group that is
// new, or has got another process, are read with each sample for ten seconds, because they may soon execute
// another program.
//
// A process that a list no longer names, or whose group is gone, is missing: it has moved (and another list
// names it), is a zombie, or is gone. Its clock decides, at the end of each sample, and every ten seconds
// once a scan has found it in no list: the process is kept as long as that can be read.
class ProcessTable {
 public:
  // `host` must outlive the table.
  explicit ProcessTable(const HostRoot& host, ProcessLimits limits = {}) : host_(host), limits_(limits) {}

  // Before the first read(): it continues from these times.
  void resume(const SavedUsage& saved) { saved_.emplace(saved); }

  // From the next read() on. The first one reads all.
  void demand(ProcessDemand demand) { demand_ = std::move(demand); }
  // The same for these groups, in addition.
  void demand_groups(std::vector<std::uint64_t> groups) { demand_.groups = std::move(groups); }

  // Fills sample.processes, sample.ended and GroupUsage::behind for the groups in `sample`. `tree`: the one
  // that they come from; nullptr without cgroup2. `boottime`: CLOCK_BOOTTIME of this sample, the clock of
  // processes' start times. Views in the sample are valid until the next call.
  void read(CgroupTree* tree, Nanoseconds boottime, UsageSample& sample);

  // All whose time is known as of the last read(), with the incarnations of their groups.
  std::vector<SavedUsage::Process> all() const;
  // Identities of the groups that have fallen behind with the last read().
  const std::vector<std::uint64_t>& fallen_behind() const { return fallen_behind_; }
  // After read(): the index in sample.processes of a process that has used something other than CPUs, and may
  // not have run; it is added if it is known. kNoProcess: it has ended, or is not tracked individually.
  std::size_t find(ProcessId id, UsageSample& sample) const;
  // The group of a process that is not tracked: index into sample.groups, kNoGroup outside any; unset if it
  // is gone.
  std::optional<std::size_t> find_group(ProcessId id, const CgroupTree* tree) const;

  // Processes left out by the limits when their groups were last read.
  std::size_t left_out() const { return left_out_; }

 private:
  // There may be 50,000 of them: every byte counts.
  struct Process {
    ProcessId id;
    Nanoseconds usage{0};
    std::string comm;           // escaped
    std::uint64_t group = 0;    // incarnation; 0: none
    std::uint64_t read_in = 0;  // number of the sample in which it was last read, or passed over
    std::int32_t parent = 0;
    ProcessUser user;
    bool kernel_thread = false;
    bool has_run = false;                 // since its user was last read
    bool active = false;                  // it has run since the last scan but one, or is new
    bool passed_over = false;             // in that sample; else it was read
    bool unread = false;                  // its last reading failed for want of memory or descriptors
    std::unique_ptr<KeptFile> comm_file;  // held while the process runs: reads fail once the process is gone
  };
  using Processes = std::unordered_map<std::int32_t, Process>;

  // A group whose list has been read, or need not be.
  struct Group {
    std::uint64_t read_in = 0, read_before = 0;  // numbers of the last two samples that read its processes
    std::vector<std::int32_t> pids;              // that were in it when its list was last read
    std::size_t left_out = 0;                    // of these
    Nanoseconds settled{0};                      // until then, its processes are read with each sample
    bool behind = false;
    GroupTime time;
    Nanoseconds all_read_at{0};   // when all of its processes were last read, and none was passed over
    Nanoseconds list_read_at{0};  // when its list was last read
  };

  enum class Age { kCurrent, kLast, kOlder };

  // Of a group: read in this sample, or an earlier one.
  enum class List { kNew, kOld };

  struct Found {
    std::int32_t pid = 0;
    std::size_t group = kNoGroup;
    List list = List::kNew;  // where it was found
  };

  static bool has_moved(const GroupUsage& group) { return !group.before || group.usage != *group.before; }

  void choose_groups(const UsageSample& sample);
  bool is_due(std::size_t group) const { return group == kNoGroup || due_[group] != 0; }
  bool is_behind(std::uint64_t group) const;
  void begin_group(Group& group);
  void begin_reading(std::size_t index, Group& group, const UsageSample& sample);
  bool may_use_old_list(const CgroupTree& tree, std::size_t index, const Group& group) const;
  bool read_by_old_list(std::size_t index, Group& group, UsageSample& sample);
  void begin_due(const UsageSample& sample);
  void leave_others_behind(const std::vector<std::size_t>& members, const UsageSample& sample);
  bool may_wait(const Found& found, const UsageSample& sample) const;
  void put_off(std::size_t index, Group& group, const UsageSample& sample);
  void settle_later(std::uint64_t group);
  void leave_behind(const GroupUsage& usage, Group& group);
  void mark_behind(UsageSample& sample);

  void read_moved(CgroupTree& tree, UsageSample& sample);
  void read_group(CgroupTree& tree, std::size_t index, UsageSample& sample);
  bool are_same_outside(CgroupTree& tree);
  void read_old_list(std::size_t index, Group& group, UsageSample& sample);
  std::size_t read_pids(std::size_t index, Group& group, List list, UsageSample& sample);
  bool may_pass_over(const Process& process) const;
  void put_known_first();
  bool has_room(std::size_t group, std::size_t reported) const;
  void note_missing(std::vector<std::int32_t>& before, std::vector<std::int32_t>& missing);
  void forget_groups(const UsageSample& sample);
  void scan(CgroupTree& tree, UsageSample& sample);
  bool list_all(CgroupTree& tree, UsageSample& sample);
  void drop_gone(std::vector<std::int32_t>& pids, UsageSample& sample);
  void read_all(CgroupTree* tree, UsageSample& sample);
  std::size_t group_of(std::int32_t pid, const CgroupTree* tree) const;

  Nanoseconds read_one(const Found& found, UsageSample& sample);
  void take_up(const Found& found, UsageSample& sample);
  // Whether it was read in this sample. Another list may name one that was passed over: it has moved.
  bool is_current(const Process& process) const { return process.read_in == sample_ && !process.passed_over; }
  Age age_of(const Process& process) const;
  static void report(const Process& process, std::size_t group, bool fresh,
                     std::optional<ProcessUsage::Before> before, UsageSample& sample);
  enum class State { kGone, kUnread, kSame, kRenamed };
  State refresh(Process& process);
  State refresh_by_clock(Process& process);
  State read_comm(Process& process);
  static State state_after(const Error& error);
  static State rename(Process& process, std::string_view comm);
  bool is_user_due(const Process& process) const;
  bool refresh_user(Process& process, bool renamed) const;
  Result<ProcessStat> read_stat(std::int32_t pid) const;

  const HostRoot& host_;
  ProcessLimits limits_;
  Processes processes_;
  std::size_t left_out_ = 0;
  std::unordered_map<std::uint64_t, Group> groups_;  // by incarnation; 0: the root
  // The groups of the last sample: as no incarnation is used again, any change changes their number or sum.
  std::size_t group_count_ = 0;
  std::uint64_t group_sum_ = 0;
  std::vector<std::int32_t> missing_;  // known, but not where they were: gone, moved elsewhere, or zombies
  std::vector<std::int32_t> missing_next_;  // from the next sample on: an old list has named them in this one
  std::vector<std::int32_t> unlisted_;      // that a scan found in no list: zombies, or idle in an idle group
  std::vector<std::int32_t> pids_, sorted_, idle_;
  ProcessDemand demand_;
  std::vector<std::uint8_t> due_;  // of each group of the sample: whether its processes are read
  bool any_behind_ = false;
  std::vector<std::uint64_t> fallen_behind_;  // in this sample
  std::uint64_t sample_ = 0;
  bool by_group_ = false;
  bool list_due_ = false;   // all of /proc is listed
  bool scan_due_ = false;   // the lists and clocks of all active groups are
  bool users_due_ = false;  // and the users of all that have run
  // How long processes of a group may be passed over, until all are read; and how long its list is used.
  Nanoseconds check_period_{0};
  Nanoseconds now_{0};  // of this sample
  std::optional<Nanoseconds> last_boottime_;
  std::optional<Nanoseconds> last_list_, last_scan_, last_users_;
  std::uint64_t listed_forks_ = 0;  // UsageSample::forks when all processes were listed and known; 0: unknown
  std::optional<SavedProcesses> saved_;  // until the first read()
};

}  // namespace keplerd
