// SPDX-License-Identifier: Apache-2.0
// Checks by what the energy of memory is divided. Pure.
#pragma once

#include <vector>

#include "cli/doctor/checks.h"

namespace keplerd::cli {

// None if there is no such energy, or the host can say nothing about it.
std::vector<Check> check_memory(const DoctorFacts& facts);

}  // namespace keplerd::cli
