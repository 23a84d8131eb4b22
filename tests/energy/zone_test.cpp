// SPDX-License-Identifier: Apache-2.0
#include "energy/zone.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

Zone zone(const std::string& name, bool in_total) {
  Zone made;
  made.name = name;
  made.in_total = in_total;
  return made;
}

const std::vector<Zone> kZones = {zone("package", true), zone("dram", true), zone("core", false)};

TEST(Quality, HasAName) {
  EXPECT_EQ(quality_name(Quality::kMeasured), "measured");
  EXPECT_EQ(quality_name(Quality::kModelled), "modelled");
  EXPECT_EQ(quality_name(Quality::kAttributed), "attributed");
  EXPECT_EQ(quality_name(Quality::kEstimated), "estimated");
  EXPECT_EQ(quality_name(Quality::kSimulated), "simulated");
}

TEST(Quality, OfAShareIsAttributedAtBest) {
  EXPECT_EQ(share_quality(Quality::kMeasured), Quality::kAttributed);
  EXPECT_EQ(share_quality(Quality::kModelled), Quality::kAttributed);
  EXPECT_EQ(share_quality(Quality::kSimulated), Quality::kSimulated);
}

TEST(ZoneId, NamesSourceNameAndIndex) { EXPECT_EQ(zone_id("powercap", "dram", 1), "powercap:dram:1"); }

TEST(ZoneChoice, TakesAllWithoutNames) {
  EXPECT_TRUE(is_chosen(kZones[2], {}));
  EXPECT_TRUE(check_choice(kZones, {}));
}

TEST(ZoneChoice, IgnoresCase) {
  EXPECT_TRUE(is_chosen(kZones[1], {"Package", "DRAM"}));
  EXPECT_FALSE(is_chosen(kZones[1], {"DRAM2", "DRA"}));
}

TEST(ZoneChoice, ThatLeavesNothingInTheTotalNamesTheZones) {
  const auto choice = check_choice(kZones, {"core", "nonexistent"});
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().message,
            "Zones=core nonexistent selects no zone that is part of the host's total; this host has dram, "
            "package (and core, which are not part of the total)");
}

TEST(ZoneChoice, FailsWhereNothingCountsAtAll) {
  const auto choice = check_choice({zone("psys", false)}, {});
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().message, "no zone that is part of the host's total (package, dram)");
}

TEST(Coverage, FollowsFromTheResourceUnlessItIsStated) {
  EXPECT_EQ(coverage_of({.name = "package"}), Coverage::kCpu);
  EXPECT_EQ(coverage_of({.name = "dram", .resource = Resource::kDram}), Coverage::kDram);
  EXPECT_EQ(coverage_of({.name = "gpu", .resource = Resource::kGpu}), Coverage::kGpu);
  EXPECT_EQ(coverage_of({.name = "rail", .resource = Resource::kNone}), Coverage::kOther);
  EXPECT_EQ(coverage_of({.name = "platform", .resource = Resource::kNone}), Coverage::kPlatform);
  EXPECT_EQ(coverage_of({.name = "psys"}), Coverage::kPlatform);
  EXPECT_EQ(coverage_of({.name = "platform", .resource = Resource::kNone, .covers = Coverage::kOther}),
            Coverage::kOther);
  EXPECT_EQ(parse_coverage("gpu"), Coverage::kGpu);
  EXPECT_EQ(parse_coverage("disk"), std::nullopt);
}

}  // namespace
}  // namespace keplerd
