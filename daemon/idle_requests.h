// SPDX-License-Identifier: Apache-2.0
// The idle policies whose figures clients wait for, for as long as they do (report/idle_trial.h).
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "report/idle_trial.h"

namespace keplerd {

class IdleRequests {
 public:
  // Samples try the policy until the result is dropped.
  std::shared_ptr<const IdlePlacing> start(IdlePlacing placing) {
    auto held = std::make_shared<const IdlePlacing>(placing);
    held_.push_back(held);
    return held;
  }

  // Each once, in the order of IdlePlacing.
  std::vector<IdlePlacing> placings() {
    std::vector<IdlePlacing> placings;
    std::erase_if(held_, [&](const std::weak_ptr<const IdlePlacing>& request) {
      const auto placing = request.lock();
      if (placing) placings.push_back(*placing);
      return placing == nullptr;
    });
    std::ranges::sort(placings);
    placings.erase(std::unique(placings.begin(), placings.end()), placings.end());
    return placings;
  }

 private:
  std::vector<std::weak_ptr<const IdlePlacing>> held_;
};

}  // namespace keplerd
