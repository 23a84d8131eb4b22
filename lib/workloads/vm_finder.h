// SPDX-License-Identifier: Apache-2.0
// Finds the processes that run virtual machines, and those that help them. A process is looked at when it is
// new and when its comm changes; its command line is read only as far as needed to see that it is none, and
// its program (/proc/PID/exe, which needs CAP_SYS_PTRACE for others' processes) only where its name is a
// hypervisor's. Its user is read again after the command line: found is only what has the same as in the
// sample.
#pragma once

#include <map>
#include <vector>

#include "usage/usage_sample.h"
#include "workloads/command_line.h"
#include "workloads/vm_helper.h"

namespace keplerd {

class HostRoot;

struct FoundVm {
  std::size_t process = 0;  // index into UsageSample::processes
  VmCommand command;
};

struct FoundHelper {
  std::size_t process = 0;
  HelperCommand command;
};

struct FoundVms {
  std::vector<FoundVm> vms;
  std::vector<FoundHelper> helpers;
};

class VmFinder {
 public:
  // `host` must outlive the finder.
  explicit VmFinder(const HostRoot& host) : host_(host) {}

  // Those among the processes of `usage` that were not known yet. Call it with every sample.
  FoundVms look(const UsageSample& usage);

 private:
  void look_at(const UsageSample& usage, std::size_t index, FoundVms& found);
  std::optional<VmCommand> look_closer(const ProcessUsage& process, std::string_view beginning,
                                       bool is_whole);
  bool is_still_its_users(const ProcessUsage& process);

  const HostRoot& host_;
  // Named like a hypervisor, but (still) none: perhaps a script of that name that is yet to start it. Or of
  // another user by now. With the number of looks that are left.
  std::map<ProcessId, int> doubtful_;
};

}  // namespace keplerd
