// SPDX-License-Identifier: Apache-2.0
#include "attribution/model/placement.h"

#include <gtest/gtest.h>

#include "attribution/model/window_fixture.h"

namespace keplerd {
namespace {

TEST(Placement, ContendersThatMayRunAnywhereAreSpreadAsTheCpusWereBusy) {
  WindowFixture f;
  f.busy = {1, 0.5, 0, 0, 0, 0, 0, 0};
  f.contenders = {{.cpu_seconds = 1.2}, {.cpu_seconds = 0.3}};
  const ZoneActivity first = f.activity({0}), second = f.activity({1});
  EXPECT_NEAR(first.use[0], 0.8, 1e-5);
  EXPECT_NEAR(first.use[1], 0.2, 1e-5);
  EXPECT_NEAR(second.use[0], 0.4, 1e-5);
  EXPECT_NEAR(second.use[1], 0.1, 1e-5);
}

TEST(Placement, TheUseOfAllZonesIsThatOfTheContender) {
  WindowFixture f;
  f.seconds = 2;
  f.busy = {0.9, 0.1, 0.4, 0.3, 0.2, 0.7, 0, 1};
  f.classes.push_back({1, 1, 0, 0, 1, 1, 0, 0});
  f.classes.push_back({0, 0, 1, 0, 0, 0, 0, 0});
  f.contenders = {
      {.cpu_seconds = 3.1}, {.cpu_seconds = 2.9, .cpu_class = 1}, {.cpu_seconds = 0.7, .cpu_class = 2}};
  const ZoneActivity left = f.activity({0, 1, 4, 5}), right = f.activity({2, 3, 6, 7});
  for (std::size_t g = 0; g < 3; ++g)
    EXPECT_NEAR(left.use[g] + right.use[g], f.contenders[g].cpu_seconds / f.seconds, 1e-12);
  EXPECT_NEAR(left.load, total(left.use), 1e-12);
}

TEST(Placement, NobodyIsPlacedWhereHeMayNotRun) {
  WindowFixture f;
  f.busy = {0.5, 0.5, 0.5, 0.5, 0, 0, 0, 0};
  f.classes = {{1, 1, 0, 0, 0, 0, 0, 0}, {0, 0, 1, 1, 0, 0, 0, 0}};
  f.contenders = {{.cpu_seconds = 1}, {.cpu_seconds = 1, .cpu_class = 1}};
  const ZoneActivity left = f.activity({0, 1});
  EXPECT_NEAR(left.use[0], 1, 1e-9);
  EXPECT_EQ(left.use[1], 0);
}

TEST(Placement, WhoMayRunAnywhereRanWhereOthersLeaveTheCpusBusy) {
  WindowFixture f;
  f.busy = {1, 1, 0, 0, 0, 0, 0, 0};
  f.classes.push_back({1, 0, 0, 0, 0, 0, 0, 0});
  f.contenders = {{.cpu_seconds = 1}, {.cpu_seconds = 1, .cpu_class = 1}};
  EXPECT_GT(f.activity({1}).use[0], 0.9);  // by busy time alone it would be 0.5
}

TEST(Placement, TwoBusySiblingsCountForLessThanTwoCores) {
  WindowFixture f;
  f.busy = {1, 1, 0, 0, 1, 0, 0, 0};  // core 0 twice, core 1 once
  f.classes = {{1, 0, 0, 0, 1, 0, 0, 0}, {0, 1, 0, 0, 0, 0, 0, 0}};
  f.contenders = {{.cpu_seconds = 2}, {.cpu_seconds = 1, .cpu_class = 1}};
  const ZoneActivity activity = f.activity();
  EXPECT_NEAR(activity.effective[0] / activity.effective[1], 2 * kSiblingShare, 1e-5);
  EXPECT_NEAR(total(activity.effective), 3, 1e-9);
  EXPECT_NEAR(activity.siblings, 1, 1e-9);
  EXPECT_NEAR(activity.busy_cores, 2, 1e-9);
  EXPECT_EQ(activity.cores, 4U);
}

// At least 0.75 + 0.5 - 1 of the time, 0.375 if they ran at random; the mean of both is assumed.
TEST(Placement, SiblingsAreTakenToBeBusyTogetherForLessThanAtRandom) {
  WindowFixture f;
  f.busy = {0.75, 0, 0, 0, 0.5, 0, 0, 0};
  f.classes = {{1, 0, 0, 0, 1, 0, 0, 0}};
  f.contenders = {{.cpu_seconds = 1.25}};
  EXPECT_DOUBLE_EQ(f.activity().siblings, 0.3125);
  f.busy = {0.5, 0, 0, 0, 0.25, 0, 0, 0};
  EXPECT_DOUBLE_EQ(f.activity().siblings, 0.0625);
}

TEST(Placement, WithoutHyperthreadsUseAndEffectiveUseAreTheSame) {
  Placement placement({{0, 1}});
  const std::vector<double> busy{1, 0.25}, khz{0, 0};
  const std::vector<CpuSet> classes{{1, 1}};
  const std::vector<ContenderUse> contenders{{.cpu_seconds = 1}, {.cpu_seconds = 0.25}};
  const CpuWindow window{1, busy, khz, classes, contenders};
  placement.place(window);
  ZoneActivity activity;
  placement.view(window, std::vector<std::size_t>{0, 1}, activity);
  EXPECT_EQ(activity.siblings, 0);
  EXPECT_NEAR(activity.effective[0], 1, 1e-9);
  EXPECT_NEAR(activity.effective[1], 0.25, 1e-9);
}

TEST(Placement, ThePackageIsAwakeIfAnyCpuIs) {
  WindowFixture f;
  f.busy = {0.25, 0.5, 0, 0, 0, 0, 0, 0};
  f.contenders = {{.cpu_seconds = 0.75}};
  EXPECT_DOUBLE_EQ(f.activity().awake, 0.625);
  EXPECT_DOUBLE_EQ(f.activity().busiest, 0.5);
}

TEST(Placement, TheFrequencyIsThatOfBusyCpus) {
  WindowFixture f;
  f.busy = {0.75, 0.25, 0.04, 0.5, 0, 0, 0, 0};
  f.khz = {2e6, 4e6, 9e6, 0, 9e6, 0, 0, 0};  // one too little busy, one not read, one idle
  f.contenders = {{.cpu_seconds = 1}};
  EXPECT_DOUBLE_EQ(f.activity().khz, 2.5e6);
}

TEST(Placement, AnIdleHostHasNoUse) {
  WindowFixture f;
  f.contenders = {{.cpu_seconds = 0}};
  const ZoneActivity activity = f.activity();
  EXPECT_EQ(activity.load, 0);
  EXPECT_EQ(activity.awake, 0);
  EXPECT_EQ(activity.effective[0], 0);
}

}  // namespace
}  // namespace keplerd
