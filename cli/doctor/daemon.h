// SPDX-License-Identifier: Apache-2.0
// Checks what keplerd reports about itself. Pure.
#pragma once

#include <vector>

#include "cli/doctor/checks.h"

namespace keplerd::cli {

// Whether it answers; and if it does, its source, its last sample, its problems and its cost.
std::vector<Check> check_daemon(const DoctorFacts& facts);

// Refused claims to other owners' containers, pods or VMs; nothing if there are none. keplerd must answer.
std::vector<Check> check_claims(const DoctorFacts& facts);

}  // namespace keplerd::cli
