// SPDX-License-Identifier: Apache-2.0
// Adds to a report what is known of the platform and of its meters' readings. Pure.
#pragma once

#include <optional>
#include <span>

#include "attribution/platform/platform.h"
#include "energy/energy_source.h"
#include "energy/zone.h"
#include "report/report.h"

namespace keplerd {

struct PlatformFacts {
  const std::optional<PlatformState>& state;
  std::span<const Zone> zones;  // of the present source
  const ReadingAges& ages;      // of their readings
};

// The report has the rows of the zones.
void report_platform(const PlatformFacts& facts, Report& report);

}  // namespace keplerd
