// SPDX-License-Identifier: Apache-2.0
// A window of a small host in numbers: four cores with two CPUs each; CPUs c and c + 4 are siblings.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "attribution/model/cpu_window.h"
#include "attribution/model/placement.h"

namespace keplerd {

inline CpuTopology four_cores() { return {{0, 1, 2, 3, 0, 1, 2, 3}}; }
inline std::vector<std::size_t> all_cpus() { return {0, 1, 2, 3, 4, 5, 6, 7}; }

struct WindowFixture {
  double seconds = 1;
  std::vector<double> busy = std::vector<double>(8, 0);
  std::vector<double> khz = std::vector<double>(8, 0);
  std::vector<CpuSet> classes{CpuSet(8, 1)};
  std::vector<ContenderUse> contenders;

  CpuWindow window() const { return {seconds, busy, khz, classes, contenders}; }
  ZoneActivity activity(const std::vector<std::size_t>& cpus = all_cpus()) const {
    Placement placement(four_cores());
    placement.place(window());
    ZoneActivity activity;
    placement.view(window(), cpus, activity);
    return activity;
  }
};

inline double total(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace keplerd
