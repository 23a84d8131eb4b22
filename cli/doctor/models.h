// SPDX-License-Identifier: Apache-2.0
// Checks what the daemon has learned about the power of its zones, and whether it can learn at all. Pure.
#pragma once

#include <vector>

#include "cli/doctor/checks.h"

namespace keplerd::cli {

// keplerd must answer. If it does not learn, because its rules do not need it or its source counts no
// processor's energy: only that rules which were set have no effect.
std::vector<Check> check_models(const DoctorFacts& facts);

}  // namespace keplerd::cli
