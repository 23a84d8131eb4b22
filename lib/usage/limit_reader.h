// SPDX-License-Identifier: Apache-2.0
// What groups and the host may use at most: cpu.max and memory.max of each group
// (Documentation/admin-guide/cgroup-v2.rst), the CPUs of /proc/stat, and MemTotal of /proc/meminfo
// (proc_meminfo(5)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "usage/cpu_ticks.h"
#include "usage/usage_sample.h"

namespace keplerd {

class CgroupTree;
class HostRoot;

// Parses a /proc/meminfo, or its beginning: MemTotal in bytes.
Result<std::int64_t> parse_total_memory(std::string_view meminfo);

class LimitReader {
 public:
  // `host` must outlive the reader.
  explicit LimitReader(const HostRoot& host) : host_(host) {}

  // Sets the limits of the groups of `sample`, and what the host has. `tree`: null without cgroup2. `stat`:
  // /proc/stat. A group is read when it is new, a little later, and each minute from then on; at most some
  // hundreds of groups in a sample, of which users' groups are half. One that was not read yet has no limits.
  void read(CgroupTree* tree, std::string_view stat, Nanoseconds now, UsageSample& sample);

 private:
  struct Group {
    GroupLimits limits;
    Nanoseconds due{0};  // to be read again
    int times = 0;       // it was read
  };

  void read_due(CgroupTree& tree, Nanoseconds now, const std::vector<GroupUsage>& groups);
  void read_host(std::string_view stat, Nanoseconds now, HostSize& host);
  void forget_ended(const std::vector<GroupUsage>& groups);

  const HostRoot& host_;
  std::unordered_map<std::uint64_t, Group> groups_;  // by incarnation
  std::size_t first_ = 0;                            // the group with which the next search begins
  std::int64_t memory_ = 0;
  Nanoseconds memory_due_{0};
  std::vector<CpuLine> cpu_lines_;
};

}  // namespace keplerd
