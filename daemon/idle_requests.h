// SPDX-License-Identifier: Apache-2.0
// The idle policies whose figures clients wait for, for as long as they do (report/idle_trial.h).
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "daemon/held_requests.h"
#include "report/idle_trial.h"

namespace keplerd {

class IdleRequests {
 public:
  // Samples try the policy until the result is dropped.
  std::shared_ptr<const IdlePlacing> start(IdlePlacing placing) { return held_.start(placing); }

  // Each once, in the order of IdlePlacing.
  std::vector<IdlePlacing> placings() {
    std::vector<IdlePlacing> placings = held_.all();
    std::ranges::sort(placings);
    placings.erase(std::unique(placings.begin(), placings.end()), placings.end());
    return placings;
  }

 private:
  HeldRequests<IdlePlacing> held_;
};

}  // namespace keplerd
