// SPDX-License-Identifier: Apache-2.0
// Hosts whose counters wrap, fail and stand still, from the files to the shares.
#include <gtest/gtest.h>

#include "attribution/scenario.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

TEST_F(Scenario, TwoPackagesWithDramAndAnMmioTwinAreFourZones) {
  add_zone({.dir = "intel-rapl:0:0", .name = "dram", .energy = 7});
  add_zone({.dir = "intel-rapl:1", .name = "package-1", .energy = 8});
  add_zone({.dir = "intel-rapl:1:0", .name = "dram", .energy = 9});
  add_zone({.dir = "intel-rapl-mmio:0", .name = "package-0", .energy = 1000 * kJoule});
  begin();
  run(10, kQuiet, 500);
  run_ticks(50, 150);
  draw(40 * kJoule, "intel-rapl:0");
  draw(40 * kJoule, "intel-rapl-mmio:0");
  draw(5 * kJoule, "intel-rapl:0:0");
  draw(30 * kJoule, "intel-rapl:1");
  draw(3, "intel-rapl:1:0");
  window({{"package:0", 40 * kJoule}, {"dram:0", 5 * kJoule}, {"package:1", 30 * kJoule}, {"dram:1", 3}});
  ASSERT_EQ(source_->zones().size(), 4U);
  std::int64_t total = 0;
  for (std::size_t zone = 0; zone < 4; ++zone) {
    EXPECT_EQ(result_->zones[zone].unattributed, Microjoules{});
    total += source_->zones()[zone].in_total ? result_->zones[zone].energy.value : 0;
  }
  EXPECT_EQ(total, 75 * kJoule + 3);
  EXPECT_EQ(energy_of_process(10), 10 * kJoule);
}

TEST_F(Scenario, WrapInOneZoneAndResetInAnother) {
  add_zone({.dir = "intel-rapl:1", .name = "package-1", .energy = 100'000 * kJoule});
  add_zone({.dir = "intel-rapl:0:0", .name = "dram", .energy = kRange - kJoule});
  fake_.set_energy("intel-rapl:0", counters_["intel-rapl:0"] = kRange - 10 * kJoule);
  begin();
  run(10, kQuiet, 100);
  run_ticks(10, 0);
  draw(40 * kJoule, "intel-rapl:0");
  draw(3 * kJoule, "intel-rapl:0:0");
  fake_.set_energy("intel-rapl:1", counters_["intel-rapl:1"] = 5 * kJoule);
  window({{"package:0", 40 * kJoule}, {"dram:0", 3 * kJoule}});
  EXPECT_EQ(energy_of_process(10), 40 * kJoule);
  run(10, kQuiet, 100);
  run_ticks(10, 0);
  draw(20 * kJoule, "intel-rapl:1");
  window({{"package:1", 20 * kJoule}});
}

TEST_F(Scenario, LaptopsWrapIsCountedFarAboveItsPowerLimit) {
  add_zone({.dir = "intel-rapl:0",
            .name = "package-0",
            .energy = kRange - 30 * kJoule,
            .limits = {15 * kJoule, 25 * kJoule}});
  begin();
  run(10, kQuiet, 1000);
  run_ticks(100, 0);
  draw(64 * kJoule);
  window({{"package:0", 64 * kJoule}});
  EXPECT_EQ(energy_of_process(10), 64 * kJoule);
}

TEST_F(Scenario, ZoneThatFailsForThreeTicksIsCountedWhenItReturns) {
  add_zone({.dir = "intel-rapl:1", .name = "package-1", .energy = 5});
  begin();
  for (int tick = 0; tick < 3; ++tick) {
    run(10, kQuiet, 200);
    run_ticks(20, 20);
    draw(10 * kJoule, "intel-rapl:0");
    draw(20 * kJoule, "intel-rapl:1");
    fake_.break_energy("intel-rapl:1");
    window({{"package:0", 10 * kJoule}});
    EXPECT_EQ(energy_of_process(10), 5 * kJoule);
    EXPECT_FALSE(sample_.readings[1]);
  }
  run(10, kQuiet, 200);
  run_ticks(20, 20);
  draw(10 * kJoule, "intel-rapl:0");
  draw(20 * kJoule, "intel-rapl:1");
  window({{"package:0", 10 * kJoule}, {"package:1", 80 * kJoule}});
  EXPECT_EQ(result_->zones[1].own[group(kQuiet)], Microjoules{40 * kJoule});
}

TEST_F(Scenario, NothingIsCountedAcrossASuspend) {
  begin();
  run(10, kQuiet, 300);
  run_ticks(30, 0);
  draw(30 * kJoule);
  asleep_ += 1h;
  window({});
  EXPECT_EQ(result_->zones[0].verdict, StepVerdict::kSuspended);
  run(10, kQuiet, 300);
  run_ticks(30, 0);
  draw(30 * kJoule);
  window({{"package:0", 30 * kJoule}});
  EXPECT_EQ(energy_of_process(10), 30 * kJoule);
}

TEST_F(Scenario, WhatWasDrawnWhileKeplerdWasDownIsUnattributed) {
  begin();
  run(10, kQuiet, 300);
  const auto saved = attributor_.last_readings();
  ASSERT_EQ(saved.size(), 1U);
  draw(500 * kJoule);
  attributor_ = Attributor(make_model());  // stopped, and started again
  begin(saved);
  window({{"package:0", 500 * kJoule}}, 20s);
  EXPECT_EQ(unattributed(), 500 * kJoule);
  run(10, kQuiet, 300);
  run_ticks(30, 0);
  draw(30 * kJoule);
  window({{"package:0", 30 * kJoule}});
  EXPECT_EQ(energy_of_process(10), 30 * kJoule);
}

}  // namespace
}  // namespace keplerd
