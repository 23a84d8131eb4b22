// SPDX-License-Identifier: Apache-2.0
// What doctor finds on a host without any problem.
#pragma once

#include "cli/doctor/facts.h"

namespace keplerd::cli {

DoctorFacts healthy();

}  // namespace keplerd::cli
