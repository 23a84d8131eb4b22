// SPDX-License-Identifier: Apache-2.0
// Groups of a sample that may run on the same CPUs are one class.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "usage/usage_sample.h"

namespace keplerd {

// Whether it has used CPU time since the previous sample.
inline bool has_run(const GroupUsage& group) { return group.before && group.usage > *group.before; }

// The numbers of the CPUs on which the group with this index may run, sorted; null or empty: on all.
using CpusOfGroup = std::function<const std::vector<int>*(std::size_t)>;

// Sets the classes of `sample` and of its groups that have run. There are at most 31 besides that of all
// CPUs, of which users' groups get at most 8; a group that finds none left counts as running anywhere.
void assign_cpu_classes(const CpusOfGroup& cpus_of, UsageSample& sample);

}  // namespace keplerd
