// SPDX-License-Identifier: Apache-2.0
// What the filters of several packages of one host have learned of the same workloads. A workload draws on
// each of them what it draws on the others; what differs is what it is compared with, the mean workload of
// the package. Where all run on all packages, each filter knows little, because it is not known on which of
// them a workload ran in a window; together they know more.
#pragma once

#include <array>
#include <span>

#include "attribution/model/power_filter.h"
#include "attribution/model/workload_slots.h"

namespace keplerd {

struct LearnedPowers {
  const PowerFilter* filter = nullptr;
  const WorkloadSlots* slots = nullptr;
};

// The d of each slot of `own`, with what is known of its workload from `others`: the mean of ln(1 + d),
// weighted by what each filter has learned, with the first guess counted once. For slots whose workload no
// other package knows, the own d. A package of which only one workload is known here, too, changes nothing:
// it only shows how the mean workloads compare.
std::array<double, kSlots> agreed_deviations(const LearnedPowers& own, std::span<const LearnedPowers> others);

}  // namespace keplerd
