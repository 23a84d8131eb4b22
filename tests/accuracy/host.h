// SPDX-License-Identifier: Apache-2.0
// Hosts of which it is known what each workload adds to the power of their processors: what a division of
// their energy is compared with. Power is in watts, energy in joules, time in seconds since the host's start.
#pragma once

#include <cstddef>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace keplerd::accuracy {

using Random = std::mt19937_64;

// Logical CPUs are numbered as on x86: the sibling of CPU c is c + cores.
struct Processors {
  int packages = 1;
  int cores = 16;  // of all packages
  int threads_per_core = 2;

  int cpus() const { return cores * threads_per_core; }
  int core_of(int cpu) const { return cpu % cores; }
  int package_of(int cpu) const { return core_of(cpu) / (cores / packages); }
};

struct Workload {
  std::string name;
  std::string parent;     // the workload that it is counted for until it is a minute old; empty: none
  std::vector<int> cpus;  // that it may run on; empty: all
  double born = 0;
  double ends = 1e18;
  // Of simulated hosts: how many threads want to run at a time; called once in each slice, in order.
  std::function<double(double now, Random&)> demand;
  double kappa = 1;                                   // its power, compared with others at the same use
  std::function<double(double now, Random&)> change;  // of kappa, called once in each window; empty: none
};

// What a sensor sees of a window, and the truth that it does not.
struct Window {
  double start = 0;
  double seconds = 0;
  std::vector<double> energy;  // of each package: what its counter moved by
  std::vector<double> busy;    // of each logical CPU, 0 to 1, in ticks of 10 ms
  std::vector<double> khz;     // of each logical CPU, at the end of the window; 0: not readable
  struct Usage {
    std::size_t workload = 0;  // index into workloads()
    double cpu_seconds = 0;
    double truth = 0;   // J that it added, above idle
    double bytes = 0;   // read from memory and written to it; 0 where that is not simulated
    double misses = 0;  // of the cache, which most of that follows; likewise
    // J, of each package: what a counter of its cores shows of this workload; empty where that is not
    // simulated.
    std::vector<double> cores = {};
    std::vector<double> instructions = {};  // of each package; likewise
  };
  std::vector<Usage> usage;  // of the workloads that existed
  double idle = 0;           // J: the truth
};

class Host {
 public:
  virtual ~Host() = default;

  // What happened in the next `seconds`; valid until the next call.
  virtual const Window& run(double seconds) = 0;

  // The name of the zone that each package has.
  virtual std::string_view zone() const { return "package"; }

  const Processors& processors() const { return processors_; }
  const std::vector<Workload>& workloads() const { return workloads_; }

 protected:
  Host(Processors processors, std::vector<Workload> workloads)
      : processors_(processors), workloads_(std::move(workloads)) {}

  Processors processors_;
  std::vector<Workload> workloads_;
};

}  // namespace keplerd::accuracy
