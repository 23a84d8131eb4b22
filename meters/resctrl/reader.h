// SPDX-License-Identifier: Apache-2.0
// One reading of all monitoring groups, as texts of usage files.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "host/descriptor_budget.h"
#include "meters/resctrl/accounts.h"
#include "meters/resctrl/held_cgroups.h"
#include "meters/resctrl/own_counts.h"
#include "usage/processors.h"

namespace keplerd {
class HostRoot;
}

namespace keplerd::resctrl {

// The die of each L3 cache with CPUs that are online (/sys/devices/system/cpu/cpuN/cache/index3/id), or of
// each package that has one die. `cpus` must be those of this host.
Dies find_dies(const HostRoot& host, const std::vector<CpuUsage>& cpus, CountKind kind);

class Reader {
 public:
  // `host` must outlive it.
  explicit Reader(const HostRoot& host);

  // To be called every second or so, at `now` (CLOCK_BOOTTIME). Returns the texts by the names of the files.
  std::map<std::string, std::string> read(Nanoseconds now);

  // Why some of it was not known at the last call; empty if it was, or will be with the next one, or if the
  // host does not count it.
  const std::string& problem(CountKind kind) const { return kinds_[static_cast<std::size_t>(kind)].problem; }

 private:
  struct Kind {
    explicit Kind(const Counted& what) : counted(what), own(what), accounts(what.kind) {}

    Counted counted;
    OwnCounts own;
    Accounts accounts;
    std::string problem;
    bool exists = false;
  };
  Result<OwnCounts::Steps> take_steps(const Result<std::vector<Group>>& groups, Nanoseconds since, Kind& kind,
                                      const Dies& dies);

  const HostRoot& host_;
  DescriptorBudget no_descriptors_{0};
  Processors processors_;
  HeldCgroups cgroups_;
  std::vector<Kind> kinds_;
  std::optional<Nanoseconds> last_;
};

// How long to wait before the next reading, which took as much CPU time: a second, but more if it would
// otherwise take more than a fiftieth of the time; half a minute at most.
Nanoseconds pause_after(Nanoseconds cpu_time);

}  // namespace keplerd::resctrl
