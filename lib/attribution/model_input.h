// SPDX-License-Identifier: Apache-2.0
// What the power models of a host's zones see of a window, from the sample at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attribution/model.h"
#include "attribution/model/cpu_window.h"
#include "attribution/workload_keys.h"
#include "usage/usage_sample.h"

namespace keplerd {

class ModelInput {
 public:
  // Takes a window. `contenders` are those of `usage`. Returns false if nothing is known of the CPUs.
  bool take(const UsageSample& usage, const Contenders& contenders);

  // Valid until the next call.
  const CpuWindow& window() const { return window_; }

  // The CPUs, numbered densely, and whether they are others than in the window before.
  const CpuTopology& topology() const { return topology_; }
  bool topology_changed() const { return topology_changed_; }
  // The CPUs whose energy a zone with this index counts; none: there is no such.
  std::vector<std::size_t> cpus_of(int zone_index) const;

  WorkloadKeys& keys() { return keys_; }
  const WorkloadKeys& keys() const { return keys_; }

 private:
  void find_topology(std::span<const CpuUsage> cpus);
  void measure_cpus(std::span<const CpuUsage> cpus, double used);

  WorkloadKeys keys_;
  CpuTopology topology_;
  std::vector<int> numbers_, dies_;  // of each CPU
  bool topology_changed_ = false;
  std::vector<double> busy_, khz_;
  std::vector<CpuSet> classes_;
  std::vector<ContenderUse> contenders_;
  std::vector<std::uint64_t> group_keys_;
  CpuWindow window_;
};

}  // namespace keplerd
