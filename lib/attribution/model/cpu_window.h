// SPDX-License-Identifier: Apache-2.0
// What the processors did in a window, as far as a power model needs it. Passive data. Uses are in busy CPUs:
// 1 is one logical CPU that was busy for the whole window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "usage/usage_sample.h"

namespace keplerd {

// The logical CPUs of a host, numbered densely whatever numbers the kernel gives them.
struct CpuTopology {
  std::vector<std::size_t> core;  // of each logical CPU: a dense index, unique on the host
};

// One contender for a zone's energy: the kernel, a group's own, or a process outside any group.
struct ContenderUse {
  double cpu_seconds = 0;
  std::size_t cpu_class = 0;   // index into CpuWindow::classes
  std::uint64_t workload = 0;  // whose power per use is learned: a VM, container or unit; 0: none
};

// Windows to learn from, in s: in shorter ones, clock ticks and counters are too coarse.
inline constexpr double kShortestWindow = 0.5, kLongestWindow = 10.5;

// All values are finite, and `seconds` is positive.
struct CpuWindow {
  double seconds = 0;
  std::span<const double> busy;  // the share of the window for which each CPU was busy, 0 to 1
  std::span<const double> khz;   // the frequency of each CPU; 0: not read
  std::span<const CpuSet> classes;
  std::span<const ContenderUse> contenders;
};

}  // namespace keplerd
