// SPDX-License-Identifier: Apache-2.0
// Which workloads have a slot in a PowerFilter: those that use a zone most. What was learned of a workload
// that loses its slot is remembered.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "attribution/model/cpu_window.h"
#include "attribution/model/power_filter.h"

namespace keplerd {

// What was learned of a workload: its d in the filter.
struct WorkloadMemory {
  std::uint64_t workload = 0;
  double deviation = 0;
  double variance = 0;
};

class WorkloadSlots {
 public:
  // Follows the use of workloads in a window, and assigns the slots of `filter`. `use`: of each contender.
  void follow(const CpuWindow& window, std::span<const double> use, PowerFilter& filter);

  // The slot of each contender of a window; 0: that of all others.
  void find(std::span<const ContenderUse> contenders, std::vector<std::size_t>& slots) const;

  // The workload that has a slot, and for how long; {}: none.
  struct Holder {
    std::uint64_t workload = 0;
    double seconds = 0;  // of windows
  };
  Holder holder(std::size_t slot) const;

  std::size_t slot_of(std::uint64_t workload) const;  // 0: none

  // What is known of those that have, or had, a slot.
  std::vector<WorkloadMemory> memory(const PowerFilter& filter) const;
  // Remembers what another run learned.
  void restore(std::span<const WorkloadMemory> memory);

 private:
  struct Workload {
    double use = 0;          // busy CPUs, mean of some minutes
    double window_use = 0;   // in this window
    std::size_t slot = 0;    // 0: none
    double held = 0;         // s, for which it has had the slot
    double deviation = 0;    // when it lost its slot
    double variance = -1;    // likewise; below 0: it never had one
    std::size_t window = 0;  // the last one in which it existed
  };
  using Workloads = std::unordered_map<std::uint64_t, Workload>;

  void measure(const CpuWindow& window, std::span<const double> use);
  void release_ended(PowerFilter& filter);
  void fill(PowerFilter& filter);
  void take(std::size_t slot, const PowerFilter& filter);
  void forget_oldest();

  std::size_t windows_ = 0;
  std::array<std::uint64_t, kSlots> holder_{};  // 0: free
  Workloads workloads_;                         // that exist, and some that do not
};

}  // namespace keplerd
