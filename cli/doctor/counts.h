// SPDX-License-Identifier: Apache-2.0
// Checks whether the hardware counts what groups of processes use of memory and of the cores of processors,
// and the events that they cause, and whether their energy is divided by that. Pure.
#pragma once

#include <vector>

#include "cli/doctor/checks.h"

namespace keplerd::cli {

// None of what there is no energy of, or of what the host can say nothing.
std::vector<Check> check_counts(const DoctorFacts& facts);

}  // namespace keplerd::cli
