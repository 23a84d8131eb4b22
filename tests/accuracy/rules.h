// SPDX-License-Identifier: Apache-2.0
// The ways of dividing energy that are compared.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "accuracy/host.h"
#include "attribution/model/cpu_window.h"
#include "attribution/model/placement.h"
#include "attribution/model/zone_power.h"

namespace keplerd::accuracy {

enum class Rule {
  kUsageRatio,   // Kepler's: active by the busy share, divided by CPU time
  kFloor,        // a learned idle power, the rest divided by CPU time
  kLearned,      // the model
  kNoFrequency,  // likewise, but no frequency can be read
};
std::string_view rule_name(Rule rule);

struct Estimate {
  double idle = 0;                  // J
  std::vector<double> energy;       // J above idle, of each usage of the window
  std::vector<double> relative_sd;  // of each
};

// Divides the windows of a host by a rule.
class Divider {
 public:
  Divider(Rule rule, const Host& host);

  const Estimate& divide(const Window& window);

 private:
  std::size_t class_of(const Workload& workload);
  void prepare(const Window& window);
  void divide_by_usage(const Window& window);
  void divide_package(const Window& window, std::size_t package);

  Rule rule_;
  const Host& host_;
  Placement placement_;
  std::vector<std::vector<std::size_t>> package_cpus_;
  std::vector<ZonePower> zones_;  // of each package
  std::vector<CpuSet> classes_;
  std::map<std::vector<int>, std::size_t> class_ids_;
  std::map<std::string, std::uint64_t, std::less<>> parents_;
  std::vector<ContenderUse> contenders_;
  std::vector<double> unread_;
  ZoneActivity activity_;
  CpuWindow cpu_window_;
  double used_ = 0;  // CPU seconds of all
  Estimate estimate_;
};

}  // namespace keplerd::accuracy
