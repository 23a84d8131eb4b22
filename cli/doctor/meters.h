// SPDX-License-Identifier: Apache-2.0
// Doctor's judgement of the meters: which can be used, why others cannot, and what is no meter at all. Pure.
#pragma once

#include <vector>

#include "cli/doctor/checks.h"

namespace keplerd::cli {

// One a meter, best first: as keplerd found it, where it answers and has tried it, or as who runs doctor sees
// it. Then what is told beside the meter, and what only looks like one.
std::vector<Check> check_meters(const DoctorFacts& facts);

}  // namespace keplerd::cli
