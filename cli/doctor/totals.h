// SPDX-License-Identifier: Apache-2.0
// Checks the daemon's zones for consistency: what lies inside another zone draws no more than that. Pure.
#pragma once

#include <vector>

#include "cli/doctor/checks.h"
#include "varlink/json_fwd.h"

namespace keplerd::cli {

// `zones`: the daemon's rows. Compares cores and uncore with their package, packages and memory with psys,
// with a tolerance for counters that are read one after another and move in steps (psys: 1 J).
Check check_totals(const std::vector<varlink::Json>& zones);

}  // namespace keplerd::cli
