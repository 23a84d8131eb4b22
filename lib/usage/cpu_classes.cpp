// SPDX-License-Identifier: Apache-2.0
#include "usage/cpu_classes.h"

#include <algorithm>
#include <map>

namespace keplerd {
namespace {

// Classes besides that of all CPUs. Users choose the affinity of their processes, and must not use up the
// classes of others.
constexpr std::size_t kMostClasses = 31, kMostOfUsers = 8;

}  // namespace

void assign_cpu_classes(const CpusOfGroup& cpus_of, UsageSample& sample) {
  sample.cpu_classes.assign(1, CpuSet(sample.cpus.size(), 1));
  std::map<std::vector<int>, std::size_t> known;
  std::size_t of_users = 0;
  for (const bool users : {false, true}) {
    for (std::size_t i = 0; i < sample.groups.size(); ++i) {
      GroupUsage& group = sample.groups[i];
      if ((group.parent_owner != 0) != users || !has_run(group)) continue;
      const std::vector<int>* const cpus = cpus_of(i);
      if (cpus == nullptr || cpus->empty()) continue;
      const auto found = known.find(*cpus);
      if (found != known.end()) {
        group.cpu_class = found->second;
        continue;
      }
      if (known.size() >= kMostClasses || (users && of_users++ >= kMostOfUsers)) continue;
      group.cpu_class = sample.cpu_classes.size();
      known.emplace(*cpus, group.cpu_class);
      CpuSet& set = sample.cpu_classes.emplace_back(sample.cpus.size(), 0);
      for (std::size_t c = 0; c < set.size(); ++c)
        set[c] = std::ranges::binary_search(*cpus, sample.cpus[c].number) ? 1 : 0;
    }
  }
}

}  // namespace keplerd
