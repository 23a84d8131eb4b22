// SPDX-License-Identifier: Apache-2.0
#include "attribution/platform/platform_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Zone package(Quality quality = Quality::kMeasured) {
  return {.id = "powercap:package:0", .name = "package", .quality = quality, .in_total = true};
}

Zone meter(const std::string& id, Coverage covers, Quality quality = Quality::kModelled) {
  return {.id = id, .name = "psu", .quality = quality, .resource = Resource::kNone, .covers = covers};
}

Zone psys(int index = 0) {
  return {.id = zone_id("powercap", "psys", index), .name = "psys", .index = index};
}

Zone acpi() {
  return {.id = "acpi:platform:0",
          .name = "platform",
          .quality = Quality::kModelled,
          .resource = Resource::kNone};
}

TEST(PlatformChoice, PrefersProgramsMetersThenAcpiThenBatteryThenPsys) {
  const std::vector<Zone> zones = {
      package(),
      psys(),
      {.id = "battery:platform:0", .name = "platform", .resource = Resource::kNone},
      acpi(),
      meter("plug:psu:0", Coverage::kPlatform)};
  EXPECT_THAT(platform_zones(zones), ElementsAre(4, 3, 2, 1));
}

TEST(PlatformChoice, PrefersTheBetterQualityAmongEquals) {
  const std::vector<Zone> zones = {meter("a:psu:0", Coverage::kPlatform, Quality::kEstimated),
                                   meter("b:psu:0", Coverage::kPlatform, Quality::kMeasured)};
  EXPECT_THAT(platform_zones(zones), ElementsAre(1, 0));
}

TEST(PlatformChoice, LeavesOutWhatCoversLessThanTheHost) {
  const std::vector<Zone> zones = {meter("a:psu:0", Coverage::kOther),
                                   meter("b:psu:0", Coverage::kGpu),
                                   {.id = "ina:rail:0", .name = "rail", .resource = Resource::kNone},
                                   psys(0),
                                   psys(1)};
  EXPECT_THAT(platform_zones(zones), IsEmpty()) << "two psys zones are of a socket each";
}

TEST(PlatformChoice, CountsEachPartOnce) {
  const auto gpu = [](std::string name) {
    return Zone{.id = "xe:" + name + ":0", .name = name, .resource = Resource::kGpu};
  };
  const std::vector<Zone> zones = {
      package(),
      {.id = "powercap:dram:0", .name = "dram", .in_total = true, .resource = Resource::kDram},
      {.id = "powercap:core:0", .name = "core"},
      psys(),
      acpi(),
      gpu("gpu"),
      gpu("gpu-package"),
      gpu("gpu-memory")};
  EXPECT_THAT(platform_parts(zones), ElementsAre(0, 1, 5));
}

TEST(PlatformChoice, HasNoPartsWhereTheTotalIsNotMeasured) {
  EXPECT_THAT(platform_parts(std::vector{package(Quality::kEstimated), acpi()}), IsEmpty());
  EXPECT_THAT(platform_parts(std::vector{acpi()}), IsEmpty());
}

}  // namespace
}  // namespace keplerd
