// SPDX-License-Identifier: Apache-2.0
// The host's logical CPUs: where each is, how busy it was, and how fast some of the busy ones run. Sources:
// /proc/stat (proc_stat(5)); devices/system/cpu/cpuN/{topology,cpufreq} of sysfs
// (Documentation/admin-guide/cputopology.rst, pm/cpufreq.rst).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/descriptor_budget.h"
#include "host/kept_file.h"
#include "usage/cpu_ticks.h"
#include "usage/usage_sample.h"

namespace keplerd {

class HostRoot;

// What the kernel calls the processor, for comparison: "model name" of /proc/cpuinfo, on ARM "CPU part".
// Empty if it does not say.
std::string processor_model(const HostRoot& host);

// Sets what a CPU did between two readings of its line. iowait and idle may decrease (proc_stat(5)).
void set_use(const CpuTicks& before, const CpuTicks& now, CpuUsage& usage);

class Processors {
 public:
  // `host` and `descriptors` must outlive the reader.
  Processors(const HostRoot& host, DescriptorBudget& descriptors) : host_(host), descriptors_(descriptors) {}

  // Sets `cpus` to those that are online, by number. `stat`: the text of /proc/stat. Without lines of single
  // CPUs in it, the CPUs are those that sysfs lists, and their ticks are 0.
  void read(std::string_view stat, std::vector<CpuUsage>& cpus);

 private:
  struct Cpu {
    int package = 0, die = 0;
    std::size_t core = 0;
    CpuTicks last;
    bool known = false;  // `last` is of the previous read
    bool has_frequency = true;
    KeptFile frequency;
  };
  void locate();
  void read_frequencies(std::vector<CpuUsage>& cpus);

  const HostRoot& host_;
  DescriptorBudget& descriptors_;
  std::map<int, Cpu> cpus_;  // by number
  std::vector<CpuLine> lines_;
  std::size_t next_ = 0;  // whose frequency is read next
};

}  // namespace keplerd
