// SPDX-License-Identifier: Apache-2.0
#include "energy/cpu/perf_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kKernelScale = "2.3283064365386962890625e-10\n";  // 2^-32

TEST(EventConfig, IsTheNumberOfTheEvent) {
  EXPECT_EQ(parse_event_config("event=0x02\n"), 2U);
  EXPECT_EQ(parse_event_config("event=0xff"), 255U);
  EXPECT_EQ(parse_event_config("event=5"), 5U);
}

TEST(EventConfig, IsNothingWhereATermIsNotKnown) {
  for (const char* text : {"", "event=", "event=0x", "event=0x02,umask=0x01", "umask=0x02", "event=0x100",
                           "event=-1", "event=0x0x2", "event=?", "EVENT=2", "event=256"}) {
    EXPECT_EQ(parse_event_config(text), std::nullopt) << text;
  }
}

TEST(CountScale, OfTheKernelIsTwoToTheMinus32Joules) {
  EXPECT_EQ(parse_count_scale(kKernelScale, "Joules\n"), (CountScale{15625, 1 << 26}));
}

TEST(CountScale, IsAnyExactDecimal) {
  EXPECT_EQ(parse_count_scale("1", "Joules"), (CountScale{1'000'000, 1}));
  EXPECT_EQ(parse_count_scale("1e-6", "Joules"), (CountScale{1, 1}));
  EXPECT_EQ(parse_count_scale("0.001", "Joules"), (CountScale{1000, 1}));
  EXPECT_EQ(parse_count_scale("2.5E-7", "Joules"), (CountScale{1, 4}));
  EXPECT_EQ(parse_count_scale("1.0e+0", "Joules"), (CountScale{1'000'000, 1}));
}

TEST(CountScale, IsNothingWhereItIsNotExactOrNoEnergy) {
  for (const char* text : {"", "0", "0.0", "-1", "1e", "e-10", "1e400", "1e-30", "1e99999", "1.2.3", "nan",
                           "0x1p-32", "1,5", ".5", "340282366920938463463374607431768211456"}) {
    EXPECT_EQ(parse_count_scale(text, "Joules"), std::nullopt) << text;
  }
  EXPECT_EQ(parse_count_scale(kKernelScale, "Watts"), std::nullopt);
  EXPECT_EQ(parse_count_scale(kKernelScale, ""), std::nullopt);
}

TEST(ScaledCount, IsExactAndRoundedDown) {
  const CountScale scale = *parse_count_scale(kKernelScale, "Joules");
  EXPECT_EQ(*scale_count(0, scale), Microjoules{0});
  EXPECT_EQ(*scale_count(std::uint64_t{1} << 32, scale), Microjoules{1'000'000});
  EXPECT_EQ(*scale_count((std::uint64_t{1} << 32) - 1, scale), Microjoules{999'999});
  EXPECT_EQ(*scale_count(UINT64_MAX, scale), Microjoules{4'294'967'295'999'999});
}

TEST(ScaledCount, NeverGoesBackAndDoesNotDependOnHowOftenItIsRead) {
  const CountScale scale = *parse_count_scale(kKernelScale, "Joules");
  Microjoules last;
  Microjoules sum;
  std::uint64_t count = 0;
  for (int i = 0; i < 10'000; ++i) {
    count += static_cast<std::uint64_t>(i) * 7919 + 1;
    const Microjoules energy = *scale_count(count, scale);
    ASSERT_GE(energy, last);
    sum += energy - last;
    last = energy;
  }
  EXPECT_EQ(sum, *scale_count(count, scale));
}

TEST(ScaledCount, ThatDoesNotFitIsAnError) { EXPECT_FALSE(scale_count(UINT64_MAX, {1'000'000, 1})); }

TEST(EnergyEvents, AreTheZonesOfRapl) {
  EXPECT_EQ(find_energy_event("energy-pkg", false)->zone, "package");
  EXPECT_TRUE(find_energy_event("energy-pkg", false)->in_total);
  EXPECT_EQ(find_energy_event("energy-ram", false)->zone, "dram");
  EXPECT_TRUE(find_energy_event("energy-ram", false)->in_total);
  EXPECT_EQ(find_energy_event("energy-cores", false)->zone, "core");
  EXPECT_FALSE(find_energy_event("energy-cores", false)->in_total);
  EXPECT_EQ(find_energy_event("energy-gpu", false)->zone, "uncore");
  EXPECT_EQ(find_energy_event("energy-psys", false)->zone, "psys");
  EXPECT_FALSE(find_energy_event("energy-psys", false)->in_total);
  EXPECT_EQ(find_energy_event("energy-core", false), nullptr);
  EXPECT_EQ(find_energy_event("energy-pkg.scale", false), nullptr);
}

TEST(EnergyEvents, OfAmdHaveNoCores) {
  EXPECT_EQ(find_energy_event("energy-cores", true), nullptr);
  EXPECT_NE(find_energy_event("energy-pkg", true), nullptr);
}

TEST(ZoneIndices, AreThePackagesNumberUnlessItHasSeveralDies) {
  EXPECT_THAT(zone_indices({{0, 0}, {3, 1}}), ElementsAre(0, 3));
  EXPECT_THAT(zone_indices({{0, 0}, {0, 1}, {1, 0}, {1, 1}}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(zone_indices({}), IsEmpty());
}

}  // namespace
}  // namespace keplerd
