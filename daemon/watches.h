// SPDX-License-Identifier: Apache-2.0
// The units that clients measure, for as long as they do.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "daemon/held_requests.h"
#include "ledger/watched_units.h"

namespace keplerd {

class Watches {
 public:
  // The unit is watched until the result is dropped.
  std::shared_ptr<const WatchedUnit> start(WatchedUnit unit) { return held_.start(std::move(unit)); }

  std::vector<WatchedUnit> units() { return held_.all(); }

 private:
  HeldRequests<WatchedUnit> held_;
};

}  // namespace keplerd
