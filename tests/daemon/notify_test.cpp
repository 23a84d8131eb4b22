// SPDX-License-Identifier: Apache-2.0
#include "daemon/notify.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

TEST(StatusLine, NamesPowerSourceQualityAndCounts) {
  Report report;
  report.source = {.name = "powercap", .quality = Quality::kMeasured, .reason = std::nullopt};
  report.host.power = Microwatts{42'345'678};
  report.units.resize(3);
  report.units[1].running = false;
  report.running_processes = 5;
  EXPECT_EQ(status_line(report, report.host.power), "42.3 W, powercap (measured), 2 units, 5 processes");
}

TEST(StatusLine, LeavesOutAPowerThatIsNotKnown) {
  Report report;
  report.source = {.name = "simulated", .quality = Quality::kSimulated, .reason = std::nullopt};
  EXPECT_EQ(status_line(report, report.host.power), "simulated (simulated), 0 units, 0 processes");
}

TEST(StatusLine, ShowsWhyThereIsNoSource) {
  Report report;
  report.source.reason = "no powercap";
  EXPECT_EQ(status_line(report, report.host.power), "No energy source: no powercap");
}

}  // namespace
}  // namespace keplerd
