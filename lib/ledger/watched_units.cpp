// SPDX-License-Identifier: Apache-2.0
#include "ledger/watched_units.h"

namespace keplerd {

void WatchedUnits::find_in(const UnitLedger& units) {
  accounts_.clear();
  for (const WatchedUnit& watched : watched_) {
    const auto unit = units.all().find(watched.id);
    if (unit == units.all().end()) continue;
    const bool is_theirs = !watched.user || unit->second->energy.owner == watched.user;
    if (is_theirs) accounts_.insert(unit->second.get());
  }
}

bool WatchedUnits::covers(const UnitAccount* unit) const {
  if (accounts_.empty()) return false;
  for (; unit != nullptr; unit = unit->parent)
    if (accounts_.contains(unit)) return true;
  return false;
}

}  // namespace keplerd
