// SPDX-License-Identifier: Apache-2.0
// Filters a sample for callers without full access. Pure.
//
// Energy readings leak what others compute (PLATYPUS), the more so the finer and more frequent they are. So
// energies are shown in steps, and power is derived only from two energies that were shown: no number here
// reveals more than the steps do.
#pragma once

#include <memory>

#include <sys/types.h>

#include "base/units.h"
#include "config/settings.h"
#include "daemon/access/public_energy.h"
#include "report/report.h"

namespace keplerd {

struct PublicTick {
  ReportView now;     // null: there was none yet
  ReportView before;  // of the previous public tick; null for the first
  // Energies shown for their rows; not needed if only the host is shown.
  std::shared_ptr<const PublicEnergies> energies, energies_before;
};

// The view of an existing tick. `rule` is not kNone; `user` matters with kOwn only.
//
// A user's own workloads are those whose rows have that owner (workloads/owner.h), with their events.
std::shared_ptr<const Report> public_report(const PublicTick& tick, PublicAccess rule, uid_t user);

// The processes of `shown`, such a report; null if `tick` has none. Without power unless this tick
// and the previous one have all of them.
std::shared_ptr<const ProcessRows> public_processes(const PublicTick& tick, PublicAccess rule, uid_t user,
                                                    const Report& shown);

}  // namespace keplerd
