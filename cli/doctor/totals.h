// SPDX-License-Identifier: Apache-2.0
// Whether the daemon's zones can be true together: what lies inside another draws no more than it. Pure.
#pragma once

#include <vector>

#include "cli/doctor/checks.h"
#include "varlink/json_fwd.h"

namespace keplerd::cli {

// `zones`: the daemon's rows. Cores and uncore against their package, packages and memory against psys; with
// room for counters that are read one after another and move in steps (psys: 1 J).
Check check_totals(const std::vector<varlink::Json>& zones);

}  // namespace keplerd::cli
