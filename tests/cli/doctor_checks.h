// SPDX-License-Identifier: Apache-2.0
// What doctor finds, for its tests.
#pragma once

#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>

#include "cli/doctor/checks.h"

namespace keplerd::cli {

inline Check check_of(const DoctorFacts& facts, std::string_view name) {
  const auto checks = check_all(facts);
  const auto found = std::ranges::find(checks, name, &Check::name);
  if (found != checks.end()) return *found;
  ADD_FAILURE() << "no check " << name;
  return {};
}

inline ExitStatus status_of(const DoctorFacts& facts) { return doctor_status(facts, check_all(facts)); }

}  // namespace keplerd::cli
