// SPDX-License-Identifier: Apache-2.0
// The memory of a host: what its workloads read and write while they use the CPU, and what that costs. Each
// has a rate per CPU second of its own, which changes within minutes; the CPU time says nothing of it. With
// several packages, each has the same part of the memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "accuracy/host.h"

namespace keplerd::accuracy {

struct MemoryLaw {
  double idle = 4;                // W of each package's memory: refresh
  double bytes_per_second = 1e9;  // of a busy CPU
  double rate_sigma = 1;          // of the logarithm of a workload's rate
  double joules_per_byte = 0.5e-9;
  double cost_sigma = 0.1;  // of the logarithm of a workload's cost per byte: reads, writes, changes of rows
  double noise = 0.003;     // relative, of each window
  double bytes_per_miss = 100;
  double miss_sigma =
      0.2;  // of the logarithm of a workload's misses per byte: prefetchers, what is written back
};

class MemoryHost final : public Host {
 public:
  MemoryHost(std::unique_ptr<Host> processors, const MemoryLaw& law, std::uint64_t seed);

  const Window& run(double seconds) override;
  std::string_view zone() const override { return "dram"; }

 private:
  struct Habit {
    double rate = 0, cost = 0, misses = 0;  // of the usual ones
    double period = 0, phase = 0;           // s; of the change of the rate
  };

  std::unique_ptr<Host> host_;
  MemoryLaw law_;
  Random random_;
  std::vector<Habit> habits_;  // by workload
  Window window_;
};

}  // namespace keplerd::accuracy
