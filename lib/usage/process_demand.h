// SPDX-License-Identifier: Apache-2.0
// Which processes are read with each sample. Those of other groups are read every ten seconds, and as soon as
// they are wanted (docs/decisions/0042-processes-for-who-asks.md).
#pragma once

#include <cstdint>
#include <vector>

#include "usage/process_id.h"

namespace keplerd {

struct ProcessDemand {
  bool all = true;                    // of every group that has used CPU time
  std::vector<ProcessId> needed;      // else of the groups that these are in
  std::vector<std::uint64_t> groups;  // and of these, by incarnation
};

}  // namespace keplerd
