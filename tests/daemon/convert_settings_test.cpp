// SPDX-License-Identifier: Apache-2.0
#include "daemon/convert_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

TEST(ConvertSettings, TakesAllOfEnergy) {
  const SourceChoice choice = source_choice({.source = "estimated",
                                             .zones = {"dram"},
                                             .idle_power = Microwatts{1},
                                             .max_power = Microwatts{2},
                                             .guest_meter = "/srv/meter"});
  EXPECT_EQ(choice.source, "estimated");
  EXPECT_THAT(choice.zones, ElementsAre("dram"));
  EXPECT_EQ(choice.idle_power, Microwatts{1});
  EXPECT_EQ(choice.max_power, Microwatts{2});
  EXPECT_EQ(choice.guest_meter, "/srv/meter");
}

TEST(ConvertSettings, TakesAllOfWorkloads) {
  const TerminatedLimits limits = terminated_limits(
      {.terminated_max = 7, .terminated_min_energy = {8}, .terminated_retention = 9s, .vm_retention = 10s});
  EXPECT_EQ(limits.max, 7u);
  EXPECT_EQ(limits.min_energy, Microjoules{8});
  EXPECT_EQ(limits.retention, 9s);
  EXPECT_EQ(limits.vm_retention, 10s);
}

TEST(ConvertSettings, TakesTheRulesOfAttribution) {
  const ModelRules rules = model_rules({.split = SplitRule::kUsageRatio, .share = ShareRule::kCpuTime});
  EXPECT_EQ(rules.split, ModelRules::Split::kUsageRatio);
  EXPECT_EQ(rules.share, ModelRules::Share::kCpuTime);
  EXPECT_EQ(model_rules({.split = SplitRule::kBaseline}).split, ModelRules::Split::kBaseline);
  EXPECT_EQ(model_rules({.share = ShareRule::kLearned}).share, ModelRules::Share::kLearned);
  EXPECT_EQ(model_rules({.share = ShareRule::kInstructions}).share, ModelRules::Share::kInstructions);
  EXPECT_EQ(model_rules({.share = ShareRule::kCycles}).share, ModelRules::Share::kCycles);
  EXPECT_EQ(model_rules({.idle_power = Microwatts{7}}).idle_power, Microwatts{7});
}

// Both sides spell them out.
TEST(ConvertSettings, DefaultsAreThoseOfTheLibraries) {
  const SourceChoice choice = source_choice({});
  EXPECT_EQ(choice.source, SourceChoice{}.source);
  EXPECT_EQ(choice.guest_meter, SourceChoice{}.guest_meter);
  EXPECT_EQ(model_rules({}), ModelRules{});
  const TerminatedLimits limits = terminated_limits({});
  EXPECT_EQ(limits.max, TerminatedLimits{}.max);
  EXPECT_EQ(limits.min_energy, TerminatedLimits{}.min_energy);
  EXPECT_EQ(limits.retention, TerminatedLimits{}.retention);
}

}  // namespace
}  // namespace keplerd
