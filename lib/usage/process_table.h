// SPDX-License-Identifier: Apache-2.0
// The host's processes and their CPU time. On this host's own /proc a process is found by its cgroup and
// asked for its CPU clock, and only where its group has moved; under another procfs root, or without cgroup2,
// all of /proc is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "host/kept_file.h"
#include "usage/process_stat.h"
#include "usage/usage_sample.h"

namespace keplerd {

class CgroupTree;
class HostRoot;

class ProcessTable {
 public:
  // `host` must outlive the table.
  explicit ProcessTable(const HostRoot& host) : host_(host) {}

  // Fills sample.processes and sample.ended for the groups that are in `sample`. `tree`: the one they came
  // from; nullptr without cgroup2. `boottime`: CLOCK_BOOTTIME of this sample, of the same clock as processes'
  // start times. Views in the sample are valid until the next call.
  void read(CgroupTree* tree, Nanoseconds boottime, UsageSample& sample);

 private:
  struct Process {
    ProcessStat stat;
    std::string comm;         // escaped
    bool fresh = true;        // as ProcessUsage tells it
    std::uint32_t owner = 0;  // of its directory in /proc, when it was last looked at
    std::optional<std::uint32_t> user;
    std::uint64_t group = 0;  // incarnation; 0: none
    std::uint64_t seen = 0;   // number of the sample
    KeptFile comm_file;       // held while the process runs: it fails once the process is gone
    int quiet = 0;            // samples since its clock moved
  };
  struct Seen {
    std::int32_t pid = 0;
    std::size_t group = kNoGroup;
  };

  void find_by_group(CgroupTree& tree, const UsageSample& sample);
  bool find_all(CgroupTree* tree, const UsageSample& sample);
  std::size_t group_of(std::int32_t pid, CgroupTree* tree) const;
  Process* read_one(const Seen& seen, UsageSample& sample);
  bool refresh(Process& process);
  void rest(Process& process);
  bool is_same(Process& process);
  static void rename(Process& process, std::string_view comm);
  void look_at_user(Process& process) const;
  Result<ProcessStat> read_stat(std::int32_t pid) const;
  void drop_ended(bool all_found);

  const HostRoot& host_;
  std::unordered_map<std::int32_t, Process> processes_;
  std::vector<Seen> found_;
  std::vector<std::int32_t> pids_;
  std::vector<ProcessId> ended_;
  std::unordered_set<std::uint64_t> quiet_;  // groups that were not looked into, because they did not move
  std::uint64_t sample_ = 0;
  std::optional<Nanoseconds> last_boottime_;
  std::optional<Nanoseconds> last_full_scan_;
};

}  // namespace keplerd
