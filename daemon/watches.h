// SPDX-License-Identifier: Apache-2.0
// The units that clients measure, for as long as they do.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "ledger/watched_units.h"

namespace keplerd {

class Watches {
 public:
  // The unit is watched until the result is dropped.
  std::shared_ptr<const WatchedUnit> start(WatchedUnit unit) {
    auto held = std::make_shared<const WatchedUnit>(std::move(unit));
    held_.push_back(held);
    return held;
  }

  std::vector<WatchedUnit> units() {
    std::vector<WatchedUnit> units;
    std::erase_if(held_, [&](const std::weak_ptr<const WatchedUnit>& watch) {
      const auto unit = watch.lock();
      if (unit) units.push_back(*unit);
      return unit == nullptr;
    });
    return units;
  }

 private:
  std::vector<std::weak_ptr<const WatchedUnit>> held_;
};

}  // namespace keplerd
