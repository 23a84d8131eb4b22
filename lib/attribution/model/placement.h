// SPDX-License-Identifier: Apache-2.0
// Estimates which contenders ran on which CPUs from three facts: how much CPU time each used, which CPUs it
// may run on, and how busy each CPU was. The method is iterative proportional fitting: rows (classes of
// contenders) and columns (CPUs) are scaled in turn until both sums agree. Contenders of one class are
// treated alike.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "attribution/model/cpu_window.h"

namespace keplerd {

// What each of two busy siblings draws, of a busy CPU that has its core to itself. Measured: 0.54 to 0.61
// (Cadorel and Saingre, IEEE Cluster 2024).
inline constexpr double kSiblingShare = 0.62;

// What happened on the CPUs of one zone.
struct ZoneActivity {
  std::size_t cpus = 0;
  std::size_t cores = 0;
  double load = 0;                // busy CPUs
  double awake = 0;               // the chance that any CPU was busy, 0 to 1, if they are independent
  double busiest = 0;             // how busy the busiest CPU was, 0 to 1: `awake` is at least that
  double siblings = 0;            // the expected number of cores with both siblings busy
  double busy_cores = 0;          // the expected number of cores with a busy CPU
  double khz = 0;                 // mean frequency, weighted by busy time; 0: no reading of a busy CPU
  std::vector<double> use;        // of each contender, on these CPUs; the sum is `load`
  std::vector<double> effective;  // likewise, lower for who shared cores; scaled to the same sum
};

class Placement {
 public:
  explicit Placement(CpuTopology topology);

  // Estimates who ran where in a window. Its sets and shares have the size of the topology.
  void place(const CpuWindow& window);

  // Sets `activity` to what of that happened on `cpus`.
  void view(const CpuWindow& window, std::span<const std::size_t> cpus, ZoneActivity& activity) const;

 private:
  std::span<double> row(std::size_t cpu_class) {
    return std::span(placed_).subspan(cpu_class * cpus_, cpus_);
  }
  std::span<const double> row(std::size_t cpu_class) const {
    return std::span(placed_).subspan(cpu_class * cpus_, cpus_);
  }
  void scale_rows();
  void scale_columns(const CpuWindow& window);
  void view_cpus(const CpuWindow& window, std::span<const std::size_t> cpus, ZoneActivity& activity) const;

  std::size_t cpus_;
  std::vector<std::size_t> sibling_;  // of each CPU: another one of its core, or itself
  std::vector<double> class_use_;     // busy CPUs of each class
  std::vector<double> placed_;        // busy CPUs of each class on each CPU
};

}  // namespace keplerd
