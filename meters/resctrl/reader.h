// SPDX-License-Identifier: Apache-2.0
// One reading of all monitoring groups, as texts of usage files.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/units.h"
#include "host/descriptor_budget.h"
#include "meters/resctrl/accounts.h"
#include "meters/resctrl/held_cgroups.h"
#include "meters/resctrl/own_traffic.h"
#include "usage/processors.h"

namespace keplerd {
class HostRoot;
}

namespace keplerd::resctrl {

// The die of each L3 cache with CPUs that are online (/sys/devices/system/cpu/cpuN/cache/index3/id).
// `processors` must be of this host.
Dies find_dies(const HostRoot& host, Processors& processors);

class Reader {
 public:
  // `host` must outlive it.
  explicit Reader(const HostRoot& host) : host_(host), processors_(host, no_descriptors_), cgroups_(host) {}

  // To be called every second or so, at `now` (CLOCK_BOOTTIME). Returns the texts by the names of the files.
  std::map<std::string, std::string> read(Nanoseconds now);

  // Why the traffic was not known at the last call; empty if it was, or will be with the next one.
  const std::string& problem() const { return problem_; }
  // How many cgroups are measured.
  std::size_t measured() const { return accounts_.size(); }

 private:
  Result<OwnTraffic::Steps> read_steps(Nanoseconds now, Accounts::Held& held, const Dies& dies);

  const HostRoot& host_;
  DescriptorBudget no_descriptors_{0};
  Processors processors_;
  HeldCgroups cgroups_;
  OwnTraffic traffic_;
  Accounts accounts_;
  std::optional<Nanoseconds> last_;
  std::string problem_;
};

// How long to wait before the next reading, which took as much CPU time: a second, but more if it would
// otherwise take more than a fiftieth of the time; half a minute at most.
Nanoseconds pause_after(Nanoseconds cpu_time);

}  // namespace keplerd::resctrl
