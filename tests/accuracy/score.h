// SPDX-License-Identifier: Apache-2.0
// How far estimates are from the truth. Errors are in percent of the energy above idle.
#pragma once

#include <cstddef>
#include <map>

#include "accuracy/host.h"
#include "accuracy/rules.h"

namespace keplerd::accuracy {

class Score {
 public:
  void add(const Host& host, const Window& window, const Estimate& estimate);

  bool empty() const { return workloads_.empty(); }
  double error() const;                     // of the whole run: sum of |estimate - truth| over the workloads
  double error_of_windows() const;          // likewise, of windows of ten seconds
  double worst() const;                     // of a workload with at least 1 % of the energy
  double bias(std::size_t workload) const;  // of this one, signed
  double covered() const;                   // percent of the workloads whose 95 % interval holds the truth
  double half_width() const;                // of the intervals
  double idle_error() const;                // of the idle energy, signed

 private:
  struct Sums {
    double estimate = 0, truth = 0;
    double sd = 0;  // J
  };
  void end_window();
  double all_truth() const;

  std::map<std::size_t, Sums> workloads_;  // what counts for a parent is that of kParents
  std::map<std::size_t, Sums> ten_;        // of the current ten seconds
  double ten_seconds_ = 0;
  double ten_errors_ = 0, ten_truth_ = 0;
  double idle_estimate_ = 0, idle_truth_ = 0;
};

}  // namespace keplerd::accuracy
