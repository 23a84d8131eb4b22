// SPDX-License-Identifier: Apache-2.0
// Checks the host: what keplerd reads besides its meters, and who else may read it. Pure.
#pragma once

#include <vector>

#include "cli/doctor/checks.h"

namespace keplerd::cli {

// The socket of keplerd, as the user running doctor sees it.
Check check_socket(const DoctorFacts& facts);

// The files of counters, cgroup2, /proc, interrupts and libvirt.
std::vector<Check> check_host(const DoctorFacts& facts);

}  // namespace keplerd::cli
