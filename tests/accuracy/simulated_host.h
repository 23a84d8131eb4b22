// SPDX-License-Identifier: Apache-2.0
// A simulated host. The law of a package, in each slice of 50 ms: idle power + a constant while any of its
// cores is awake + a constant for each core awake + the sum over its cores of kappa f V^2, where the voltage
// V and the frequency f fall as cores wake, and two busy siblings draw less than twice one. The truth is the
// Shapley value of the workloads that ran in the slice, at the frequency of the slice: the power is then
// additive over the constant and the cores, each of which has one or two workloads, so that it has a closed
// form.
#pragma once

#include <cstdint>
#include <vector>

#include "accuracy/host.h"

namespace keplerd::accuracy {

struct Law {
  double idle = 22;        // W, of all packages
  double awake = 9;        // W, of a package
  double per_core = 0.35;  // W
  double dynamic = 1.21;   // W at kappa, f V^2 = 1
  double volts = 0.65, volts_per_ghz = 0.13;
  double turbo = 3.6, full = 2.4;  // GHz: one core awake, and all
  double siblings = 0.62;          // what two busy siblings draw, of twice one
  double kappa_sigma = 0.35;       // kappa is lognormal
  double noise = 0.003;            // of the reading of a window: standard deviation
  double unit = 61e-6;             // J, of the counter
  double count_sigma =
      0.05;  // of the logarithm of how wrong the energy of cores is that is counted of a workload
  double rate_sigma =
      0.4;  // of the logarithm of a workload's instructions per cycle, which say nothing of kappa
};

class SimulatedHost final : public Host {
 public:
  SimulatedHost(Processors processors, Law law, std::vector<Workload> workloads, std::uint64_t seed);

  // `seconds` must be a multiple of 0.05.
  const Window& run(double seconds) override;

 private:
  void find_alive(double seconds);
  void slice();
  void place();
  void draw(int package);
  void draw_core(int core, double watts);
  void count(int package, double cycles);
  void give(int workload, double watts);
  void give_core(int workload, int package, double watts);
  int running(int cpu) const {
    return cpu < processors_.cpus() ? running_[static_cast<std::size_t>(cpu)] : -1;
  }

  Law law_;
  Random random_;
  double now_ = 0;
  Window window_;
  std::size_t born_ = 0;              // workloads before it have been born
  std::vector<std::size_t> alive_;    // workloads
  std::vector<int> wanted_;           // a workload for each thread that wants to run in this slice
  std::vector<int> running_;          // the workload on each logical CPU; -1: none
  std::vector<double> ghz_;           // of each package, in the last slice
  std::vector<double> counter_;       // of each package
  std::vector<double> joules_;        // of each package in this window
  std::vector<double> cpu_, truth_;   // of each workload in this window
  std::vector<double> cores_;         // J, of each package and workload in this window, as counted
  std::vector<double> count_error_;   // of each workload: by what the count is multiplied
  std::vector<double> rate_;          // of each workload: instructions per cycle
  std::vector<double> instructions_;  // of each package and workload in this window
  double drawn_ = 0;                  // W in this slice
};

}  // namespace keplerd::accuracy
