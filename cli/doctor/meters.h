// SPDX-License-Identifier: Apache-2.0
// Evaluates the meters: which can be used, why others cannot, and what is not a meter at all. Pure.
#pragma once

#include <vector>

#include "cli/doctor/checks.h"

namespace keplerd::cli {

// One check per meter, best first: as keplerd found it, if it answers and has tried it, else as the user
// running doctor sees it. Then meters that are only shown, and what merely looks like a meter.
std::vector<Check> check_meters(const DoctorFacts& facts);

}  // namespace keplerd::cli
