// SPDX-License-Identifier: Apache-2.0
// Finds the processes that run virtual machines, and their helpers. A process is examined when it is new and
// when its comm changes; its command line is read only as far as needed to rule it out, and its program
// (/proc/PID/exe, which needs CAP_SYS_PTRACE for others' processes) only if its name is a hypervisor's. Its
// user is read again after the command line: only processes whose user still matches the sample are
// reported.
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

  // New ones among the processes of `usage`. Must be called with every sample.
  FoundVms scan(const UsageSample& usage);

 private:
  void examine(const UsageSample& usage, std::size_t index, FoundVms& found);
  std::optional<VmCommand> read_command(const ProcessUsage& process, std::string_view beginning,
                                        bool is_whole);
  bool is_still_its_users(const ProcessUsage& process);

  const HostRoot& host_;
  // Named like a hypervisor, but not one (yet): perhaps a script of that name that is about to start it. Or a
  // process whose user has changed. With the number of attempts left.
  std::map<ProcessId, int> doubtful_;
};

}  // namespace keplerd
