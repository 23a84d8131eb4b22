// SPDX-License-Identifier: Apache-2.0
// The host's processes and their CPU time. On this host's own /proc a process is found by its cgroup and
// asked for its CPU clock, and only where its group has moved: what a sample costs grows with what moved, not
// with what is there. Under another procfs root, or without cgroup2, all of /proc is read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "host/kept_file.h"
#include "usage/process_stat.h"
#include "usage/process_user.h"
#include "usage/usage_sample.h"

namespace keplerd {

class CgroupTree;
class HostRoot;

// What is born beyond these is not told apart: its time is in its group's own. Who is known stays known, and
// outside any group everybody is, because nothing else tells what was used there.
struct ProcessLimits {
  std::size_t all = 100'000;
  std::size_t in_group = 20'000;            // so that a fork bomb leaves room for others
  DescriptorBudget* descriptors = nullptr;  // outlives the table; null: no bound
};

// How old is what it knows? Three things are read at different times, each no more often than it may have
// changed:
//
//   a group's list of processes   with each sample in which the group's CPU time has moved
//   a process' clock and name     with the list that names it; every ten seconds also where no list did
//   a process' user               when it is new or renamed, and every ten seconds if it has run
//
// A group that has not moved stands for its processes: none of them has run, so what was read of them when
// their group's list was last read is still true. Age says what that makes of a process:
//
//   kCurrent  read in this sample
//   kLast     read when its group's list was last read before this sample, or later: what its clock has moved
//             since then is of this window
//   kOlder    its group's list was read since, and it was not in it (it was in another group that has not
//   moved,
//             or a zombie, or beyond the limits): what its clock has moved is of more than this window, and
//             none of it is given to the window
//
// A process that a list no longer names, or whose group is gone, is missing: it is somewhere else (and
// another list names it), a zombie, or gone. Its clock decides, at the end of each sample: as long as that
// can be read it is kept.
class ProcessTable {
 public:
  // `host` must outlive the table.
  explicit ProcessTable(const HostRoot& host, ProcessLimits limits = {}) : host_(host), limits_(limits) {}

  // Fills sample.processes and sample.ended for the groups that are in `sample`. `tree`: the one they came
  // from; nullptr without cgroup2. `boottime`: CLOCK_BOOTTIME of this sample, of the same clock as processes'
  // start times. Views in the sample are valid until the next call.
  void read(CgroupTree* tree, Nanoseconds boottime, UsageSample& sample);

  // Processes that the limits have left out, where their groups were last looked into.
  std::size_t left_out() const { return left_out_; }

 private:
  // There may be 50,000 of them: each byte counts.
  struct Process {
    ProcessId id;
    Nanoseconds usage{0};
    std::string comm;           // escaped
    std::uint64_t group = 0;    // incarnation; 0: none
    std::uint64_t read_in = 0;  // number of the sample in which it was last read
    std::int32_t parent = 0;
    ProcessUser user;
    bool kernel_thread = false;
    bool has_run = false;                 // since its user was last read
    std::unique_ptr<KeptFile> comm_file;  // held while the process runs: it fails once the process is gone
  };
  using Processes = std::unordered_map<std::int32_t, Process>;

  // A group whose list has been read.
  struct Group {
    std::uint64_t read_in = 0, read_before = 0;  // numbers of the last samples that did
    std::vector<std::int32_t> pids;              // that were in it then
    std::size_t left_out = 0;                    // of these
  };

  enum class Age { kCurrent, kLast, kOlder };

  struct Found {
    std::int32_t pid = 0;
    std::size_t group = kNoGroup;
  };

  void read_moved(CgroupTree& tree, UsageSample& sample);
  void read_group(CgroupTree& tree, std::size_t index, UsageSample& sample);
  std::size_t read_pids(std::size_t index, UsageSample& sample);
  void put_known_first();
  bool has_room(std::size_t group, std::size_t reported) const;
  void note_missing(std::vector<std::int32_t>& before);
  void forget_groups(const UsageSample& sample);
  void scan(CgroupTree& tree, UsageSample& sample);
  void drop_missing(UsageSample& sample);
  void read_all(CgroupTree* tree, UsageSample& sample);
  std::size_t group_of(std::int32_t pid, CgroupTree* tree) const;

  void read_one(const Found& found, UsageSample& sample);
  void take_up(const Found& found, UsageSample& sample);
  Age age_of(const Process& process) const;
  static void report(const Process& process, std::size_t group, bool fresh,
                     std::optional<ProcessUsage::Before> before, UsageSample& sample);
  enum class State { kGone, kSame, kRenamed };
  State refresh(Process& process);
  State refresh_by_clock(Process& process);
  State read_comm(Process& process);
  static State rename(Process& process, std::string_view comm);
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
  std::vector<std::int32_t> pids_, sorted_;
  std::uint64_t sample_ = 0;
  bool by_group_ = false;
  bool scan_due_ = false;
  std::optional<Nanoseconds> last_boottime_;
  std::optional<Nanoseconds> last_scan_;
};

}  // namespace keplerd
