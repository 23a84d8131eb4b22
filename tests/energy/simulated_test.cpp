// SPDX-License-Identifier: Apache-2.0
#include "energy/simulated.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/fake_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;

constexpr std::int64_t kHundred = 100;  // clock ticks a second

TEST(BusyTicks, AreAllButIdleIowaitAndSteal) {
  EXPECT_EQ(*parse_busy_ticks("cpu  1 20 300 4000 50000 600000 7000000 80000000 9 9\ncpu0 1 1 1 1\n"),
            7'600'321);
  EXPECT_EQ(*parse_busy_ticks("cpu 0 0 0 0 0 0 0"), 0);
}

TEST(BusyTicks, AreNotReadFromGarbage) {
  for (const char* stat :
       {"", "cpu", "cpu0 1 2 3 4 5 6 7 8\n", "cpu 1 2 3 4 5 6", "cpu 1 -2 3 4 5 6 7", "cpu 1 x 3 4 5 6 7",
        "cpu 99999999999999 0 0 0 0 0 0", "cpu 30000000000000 30000000000000 0 0 0 0 0"}) {
    EXPECT_FALSE(parse_busy_ticks(stat)) << stat;
  }
}

TEST(SimulatedCounter, BeginsAtZero) {
  SimulatedCounter counter(kHundred);
  EXPECT_EQ(counter.advance(1000s, 123'456), Microjoules{0});
}

TEST(SimulatedCounter, AddsIdlePowerOverTimeAndCorePowerOverBusyTime) {
  SimulatedCounter counter(kHundred);
  counter.advance(1000s, 500);
  EXPECT_EQ(counter.advance(1001s, 500), Microjoules{20'000'000});
  EXPECT_EQ(counter.advance(1001s, 650), Microjoules{35'000'000});
  EXPECT_EQ(counter.advance(1002s, 850), Microjoules{75'000'000});
}

TEST(SimulatedCounter, LosesNothingHoweverOftenItIsRead) {
  SimulatedCounter counter(kHundred);
  Nanoseconds now = 5s;
  std::int64_t ticks = 7;
  counter.advance(now, ticks);
  Microjoules last;
  for (int i = 0; i < 1000; ++i) {
    now += 17ns;  // 0.00034 of a microjoule
    ticks += i % 2;
    const auto energy = counter.advance(now, ticks);
    ASSERT_GE(energy, last);
    last = energy;
  }
  // 17 us at 20 W are 340 uJ, 5 s at 10 W are 50 J.
  EXPECT_EQ(last, Microjoules{50'000'340});
}

TEST(SimulatedCounter, CarriesTheRemainder) {
  SimulatedCounter counter(kHundred);
  counter.advance(0ns, 0);
  EXPECT_EQ(counter.advance(49ns, 0), Microjoules{0});
  EXPECT_EQ(counter.advance(50ns, 0), Microjoules{1});
  EXPECT_EQ(counter.advance(99ns, 0), Microjoules{1});
  EXPECT_EQ(counter.advance(100ns, 0), Microjoules{2});
}

TEST(SimulatedCounter, IsExactIfATickIsNotAWholeNumberOfNanoseconds) {
  SimulatedCounter counter(1024);
  counter.advance(0ns, 0);
  for (int tick = 1; tick <= 1024; ++tick) counter.advance(0ns, tick);
  EXPECT_EQ(counter.advance(0ns, 1024), Microjoules{10'000'000});
}

TEST(SimulatedCounter, NeverGoesBack) {
  SimulatedCounter counter(kHundred);
  counter.advance(10s, 1000);
  EXPECT_EQ(counter.advance(11s, 1100), Microjoules{30'000'000});
  EXPECT_EQ(counter.advance(10s, 900), Microjoules{30'000'000});
  EXPECT_EQ(counter.advance(11s, 1100), Microjoules{30'000'000});
  EXPECT_EQ(counter.advance(12s, 1100), Microjoules{50'000'000});
}

class SimulatedTest : public ::testing::Test {
 protected:
  Result<Microjoules> read(EnergySource& source, Nanoseconds now) {
    ZoneReadings readings;
    source.read(now, readings);
    EXPECT_EQ(readings.size(), 1U);
    return readings.at(0);
  }

  FakeHost fake_;
};

TEST_F(SimulatedTest, HasOnePackageAndSaysThatItIsSimulated) {
  const auto source = open_simulated(fake_.open(), {});
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->name(), "simulated");
  ASSERT_EQ((*source)->zones().size(), 1U);
  const auto& zone = (*source)->zones()[0];
  EXPECT_EQ(zone.id, "simulated:package:0");
  EXPECT_EQ(zone.quality, Quality::kSimulated);
  EXPECT_TRUE(zone.in_total);
  EXPECT_EQ(zone.range, Microjoules{0});
}

TEST_F(SimulatedTest, FollowsTheHostsBusyTime) {
  const auto ticks_per_second = ::sysconf(_SC_CLK_TCK);
  fake_.set_stat({.user = 50, .idle = 1000});
  const auto source = open_simulated(fake_.open(), {});
  EXPECT_EQ(*read(**source, 1s), Microjoules{0});
  fake_.set_stat({.user = 50 + ticks_per_second, .system = ticks_per_second, .idle = 1000});
  EXPECT_EQ(*read(**source, 3s), Microjoules{60'000'000});
}

TEST_F(SimulatedTest, CountsATimeInWhichItCouldNotBeReadAfterwards) {
  const auto source = open_simulated(fake_.open(), {});
  EXPECT_EQ(*read(**source, 1s), Microjoules{0});
  fake_.write("proc/stat", "garbage\n");
  const auto failed = read(**source, 2s);
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, EndsWith("/proc/stat: the first line is not that of all CPUs"));
  fake_.set_stat({});
  EXPECT_EQ(*read(**source, 3s), Microjoules{40'000'000});
}

TEST_F(SimulatedTest, HasNoOtherZonesToChoose) {
  EXPECT_TRUE(open_simulated(fake_.open(), {"Package"}));
  EXPECT_FALSE(open_simulated(fake_.open(), {"dram"}));
}

}  // namespace
}  // namespace keplerd
