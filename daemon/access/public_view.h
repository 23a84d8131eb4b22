// SPDX-License-Identifier: Apache-2.0
// What a caller without full access may see of a sample. Pure.
//
// Energy leaks what others compute (PLATYPUS), more the finer and the more often it is told. So energies are
// told in steps, and power is made of nothing but two energies that were told: a number here says no more
// than the steps do.
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
  ReportView before;  // of the public tick before; null at the first
  // What is shown of their rows; not needed where only the host is shown.
  std::shared_ptr<const PublicEnergies> energies, energies_before;
};

// Of a tick that is there. `rule` is not kNone; `user` matters with kOwn only.
//
// A user's own workloads are those whose rows have that owner (workloads/owner.h), and what happened to them.
std::shared_ptr<const Report> public_report(const PublicTick& tick, PublicAccess rule, uid_t user);

// The processes that go with `shown`, such a report; null where `tick` has none. Without power where the tick
// before has none.
std::shared_ptr<const ProcessRows> public_processes(const PublicTick& tick, PublicAccess rule, uid_t user,
                                                    const Report& shown);

}  // namespace keplerd
