// SPDX-License-Identifier: Apache-2.0
// On which CPUs the processes of a group may run: cpuset.cpus.effective of the group or of the nearest one
// above it that has such a file (Documentation/admin-guide/cgroup-v2.rst), narrowed to those on which its
// processes may run (thread_cpus.h); of a VM's process, the threads that are its vCPUs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/units.h"
#include "usage/usage_sample.h"

namespace keplerd {

class CgroupTree;
class HostRoot;

// Of a thread of a VM's process: whether it is a vCPU, by its name: "CPU 0/KVM", as QEMU calls it.
bool is_vcpu_thread(std::string_view comm);

class AllowedCpus {
 public:
  // Whether a process runs a VM.
  using RunsVm = std::function<bool(ProcessId)>;

  // `host` must outlive the reader.
  explicit AllowedCpus(const HostRoot& host) : host_(host) {}

  // The groups of `sample`, by incarnation, whose processes read() will want to know.
  std::vector<std::uint64_t> due(Nanoseconds now, const UsageSample& sample) const;

  // Sets the classes of `sample` and its groups. `tree`: null without cgroup2. A group that has used CPU time
  // is examined when it is new, a little later, and each minute from then on; at most some dozens of groups
  // in a sample.
  void read(CgroupTree* tree, Nanoseconds now, const RunsVm& runs_vm, UsageSample& sample);

 private:
  struct Group {
    std::vector<int> cpus;            // empty: all
    Nanoseconds due{0};               // for the next examination
    int examined = 0;                 // times
    std::vector<std::int32_t> vcpus;  // threads, sorted
  };
  using Processes = std::vector<const ProcessUsage*>;
  class Cpusets;

  void examine_due(CgroupTree& tree, Nanoseconds now, const RunsVm& runs_vm, const UsageSample& sample);
  void examine(const std::vector<int>& cpuset, Processes processes, const RunsVm& runs_vm, Group& group);
  std::vector<int> cpus_of_vcpus(std::int32_t pid, const std::vector<std::int32_t>& known,
                                 std::vector<std::int32_t>& vcpus) const;
  bool has_name_of_vcpu(const std::string& thread) const;
  void forget_ended(const UsageSample& sample);

  const HostRoot& host_;
  std::unordered_map<std::uint64_t, Group> groups_;  // by incarnation
  std::vector<int> online_;                          // CPUs
};

}  // namespace keplerd
