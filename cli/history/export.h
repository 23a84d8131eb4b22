// SPDX-License-Identifier: Apache-2.0
// `keplerctl history export`: everything that is recorded and that the caller may see, as CSV.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/history/period.h"

namespace keplerd::cli::history {

// The parts of a period that are requested one after another, so that lines are in the order of time: days
// for steps that are shorter, months for others. No span of a step is in two of them.
std::vector<Period> parts_of(const Period& period, const std::string& step);

// Writes one line for each span and workload: part by part, and in each of them kind by kind. Returns the
// exit status.
int export_history(const Context& context, Time now);

}  // namespace keplerd::cli::history
