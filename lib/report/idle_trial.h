// SPDX-License-Identifier: Apache-2.0
// What an idle policy would have placed in the last window, without being in effect: nothing of it is booked.
#pragma once

#include <optional>
#include <vector>

#include "base/units.h"

namespace keplerd {

// An idle policy: on whom idle energy is placed.
enum class IdlePlacing {
  kSeparate,  // on nobody
  kEqual,     // on each workload the same
  kSize,      // by the part of the host that each may use
  kUsage,     // by the active energy of the last hour
};

struct IdleTrial {
  // Idle energy in the zones of the total.
  struct Part {
    Microjoules energy;
    std::optional<Microwatts> power;  // of it; unset: not known
  };

  IdlePlacing placing = IdlePlacing::kSeparate;
  // False: limits of some cgroups were not read yet; each is without limits until then.
  bool is_complete = true;
  Part host;                                       // what it would have placed on nobody
  std::vector<Part> units, vms, containers, pods;  // of each row of the report
};

}  // namespace keplerd
