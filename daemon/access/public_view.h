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
  std::shared_ptr<const Report> now;     // null: there was none yet
  std::shared_ptr<const Report> before;  // of the public tick before; null at the first
  // What is shown of their rows; not needed where only the host is shown.
  std::shared_ptr<const PublicEnergies> energies, energies_before;
};

// Of a tick that is there. `rule` is not kNone; `user` matters with kOwn only.
//
// A user's own workloads are those whose rows have that owner (workloads/owner.h), and what happened to them.
std::shared_ptr<Report> make_public_view(const PublicTick& tick, PublicAccess rule, uid_t user);

// Adds the processes to such a view, if `tick` has them and the view has not; without their power if the tick
// before has none.
void add_public_processes(const PublicTick& tick, PublicAccess rule, uid_t user, Report& view);

}  // namespace keplerd
