// SPDX-License-Identifier: Apache-2.0
// The ways of dividing energy that are compared: keplerd's own division under different settings;
// kPooled is a part of it that cannot be configured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "accuracy/host.h"
#include "attribution/attributor.h"

namespace keplerd::accuracy {

enum class Rule {
  kUsageRatio,    // Kepler's: active by the busy share, divided by CPU time
  kFloor,         // a learned idle power, the rest divided by CPU time
  kLearned,       // the model
  kNoFrequency,   // likewise, but no frequency can be read
  kHalfCounted,   // the model, and what the hardware counts of every second workload: the traffic of memory,
                  // or the energy of cores
  kCounted,       // likewise, of all but those with a parent
  kMisses,        // the model, and the cache misses of all but those with a parent
  kInstructions,  // a learned idle power, the rest divided by the instructions of all but those with a parent
  kPooled,        // the model without powers of workloads: all draw alike for the same use
};
std::string_view rule_name(Rule rule);

struct Estimate {
  double idle = 0;                  // J
  std::vector<double> energy;       // J above idle, of each usage of the window
  std::vector<double> relative_sd;  // of each
};

// Divides the windows of a host by a rule: hands the Attributor the samples that keplerd would take there. A
// workload is a service; those with a parent are in its slice.
class Divider {
 public:
  Divider(Rule rule, const Host& host);

  const Estimate& divide(const Window& window);

 private:
  struct Group {
    std::string path;
    std::uint64_t incarnation = 0;
    std::size_t parent = kNoGroup;
    std::size_t cpu_class = 0;
    Nanoseconds usage{0};
    std::size_t index = kNoGroup;  // in the sample
  };
  Group& find_workload(std::size_t workload);
  void begin_sample();
  void add_group(Group& group, Nanoseconds used);
  void add_groups(const Window& window);
  void add_cpus(const Window& window);
  void add_counters(const Window& window);
  void add_counts(const Window& window);
  bool is_measured(std::size_t workload) const;
  void read_result(const Window& window);

  Rule rule_;
  const Host& host_;
  Attributor attributor_;
  Sample sample_;
  std::map<std::string, Group> slices_;
  std::map<std::size_t, Group> services_;  // by workload
  std::map<std::vector<int>, std::size_t> class_ids_;
  std::vector<CpuSet> classes_;
  std::vector<double> counters_;  // J, of each package
  std::uint64_t last_incarnation_ = 0;
  Estimate estimate_;
};

}  // namespace keplerd::accuracy
