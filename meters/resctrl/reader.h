// SPDX-License-Identifier: Apache-2.0
// One reading of all monitoring groups, as texts of usage files.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "host/descriptor_budget.h"
#include "meters/counts/accounts.h"
#include "meters/resctrl/held_cgroups.h"
#include "meters/resctrl/own_counts.h"
#include "usage/processors.h"

namespace keplerd {
class HostRoot;
}

namespace keplerd::resctrl {

// The die of each L3 cache with CPUs that are online (/sys/devices/system/cpu/cpuN/cache/index3/id), or of
// each package that has one die. `cpus` must be those of this host.
meters::Dies find_dies(const HostRoot& host, const std::vector<CpuUsage>& cpus, CountKind kind);

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
    meters::Accounts accounts;
    std::string problem;
    bool exists = false;
  };
  Result<meters::Steps> take_steps(const Result<std::vector<Group>>& groups, Nanoseconds since, Kind& kind,
                                   const meters::Dies& dies);

  const HostRoot& host_;
  DescriptorBudget no_descriptors_{0};
  Processors processors_;
  HeldCgroups cgroups_;
  std::vector<Kind> kinds_;
  std::optional<Nanoseconds> last_;
};

}  // namespace keplerd::resctrl
