// SPDX-License-Identifier: Apache-2.0
#include "energy/estimated.h"

#include <gtest/gtest.h>

#include "energy/select_source.h"
#include "support/fake_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr PowerCurve kCurve{{20'000'000}, {100'000'000}};

TEST(Utilisation, IsBusyOfAllTicks) {
  const auto utilisation = parse_utilisation("cpu  1 2 3 40 50 6 7 80 9 10\ncpu0 0\n");
  ASSERT_TRUE(utilisation) << utilisation.error().message;
  EXPECT_EQ(utilisation->busy, 1 + 2 + 3 + 6 + 7);
  EXPECT_EQ(utilisation->all, 1 + 2 + 3 + 6 + 7 + 40 + 50 + 80);
}

TEST(Utilisation, OfGarbageIsAnError) {
  for (const char* text : {"", "cpu\n", "cpu0 1 2 3 4 5 6 7 8\n", "cpu 1 2 3 -4 5 6 7 8\n",
                           "cpu 1 2 3 4 5 6 7 99999999999999999999\n"}) {
    EXPECT_FALSE(parse_utilisation(text)) << text;
  }
}

TEST(EstimatedCounter, IsALineBetweenIdleAndMax) {
  EstimatedCounter counter(kCurve);
  EXPECT_EQ(counter.advance(10s, {100, 1000}), Microjoules{0});
  EXPECT_EQ(counter.advance(11s, {100, 1100}), Microjoules{20'000'000});
  EXPECT_EQ(counter.advance(12s, {200, 1200}), Microjoules{120'000'000});
  EXPECT_EQ(counter.advance(14s, {250, 1400}), Microjoules{200'000'000});
}

TEST(EstimatedCounter, CountsTimeWithoutATickWithTheNext) {
  EstimatedCounter counter(kCurve);
  counter.advance(0s, {0, 0});
  EXPECT_EQ(counter.advance(4ms, {0, 0}), Microjoules{0});
  EXPECT_EQ(counter.advance(10ms, {1, 1}), Microjoules{1'000'000});
}

TEST(EstimatedCounter, NeverGoesBackAndNeverAboveMax) {
  EstimatedCounter counter(kCurve);
  counter.advance(10s, {100, 1000});
  EXPECT_EQ(counter.advance(9s, {200, 1100}), Microjoules{0});
  EXPECT_EQ(counter.advance(11s, {50, 900}), Microjoules{0});
  EXPECT_EQ(counter.advance(12s, {300, 1100}), Microjoules{200'000'000}) << "iowait fell: 200 of 200 ticks";
}

TEST(Estimated, IsOnlyByNameAndEstimated) {
  FakeHost fake;
  fake.set_stat({.user = 10, .idle = 90});
  EXPECT_FALSE(select_source(fake.open(), {.source = "estimated"}));
  EXPECT_FALSE(select_source(fake.open(), {.idle_power = kCurve.idle, .max_power = kCurve.max}));
  const auto source =
      select_source(fake.open(), {.source = "estimated", .idle_power = kCurve.idle, .max_power = kCurve.max});
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->name(), "estimated");
  ASSERT_EQ((*source)->zones().size(), 1U);
  EXPECT_EQ((*source)->zones()[0].id, "estimated:package:0");
  EXPECT_EQ((*source)->zones()[0].quality, Quality::kEstimated);
  EXPECT_TRUE((*source)->zones()[0].in_total);
  fake.remove("proc/stat");
  ZoneReadings readings;
  (*source)->read(1s, readings);
  EXPECT_FALSE(readings.at(0));
}

}  // namespace
}  // namespace keplerd
