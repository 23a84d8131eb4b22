// SPDX-License-Identifier: Apache-2.0
// What the verbs history and report have in common.
#pragma once

#include "cli/context.h"
#include "cli/history/period.h"
#include "cost/load.h"

namespace keplerd::cli {

history::Time history_now();

// Those of cost.conf. An error in it is a warning: energies are shown without costs.
Rates history_rates(const Context& context);

}  // namespace keplerd::cli
