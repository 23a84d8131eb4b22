// SPDX-License-Identifier: Apache-2.0
#include "energy/cpu/powercap_zones.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Given {
  const char* directory;
  const char* zone;
};

std::vector<PowercapZone> zones_of(const std::vector<Given>& given, bool amd = false) {
  std::vector<PowercapDirectory> directories;
  for (const auto& [directory, zone] : given) directories.push_back({directory, zone, "262143328850", {}});
  return powercap_zones(directories, {.amd = amd});
}

// "ID@DIRECTORY", with a plus sign if the zone is in the total.
std::vector<std::string> reported(const std::vector<PowercapZone>& zones) {
  std::vector<std::string> texts;
  for (const auto& [zone, directory, counts_power] : zones) {
    EXPECT_FALSE(counts_power);
    texts.push_back((zone.in_total ? "+" : "") + zone.id + "@" + directory);
  }
  return texts;
}

TEST(PowercapZones, MemoryIsAResourceOfItsOwn) {
  const auto zones = zones_of({{"intel-rapl:0", "package-0"},
                               {"intel-rapl:0:0", "dram"},
                               {"intel-rapl:0:1", "core"},
                               {"intel-rapl:1", "psys"}});
  std::vector<Resource> resources;
  for (const auto& zone : zones) resources.push_back(zone.zone.resource);
  EXPECT_THAT(resources, ElementsAre(Resource::kCpu, Resource::kDram, Resource::kCpu, Resource::kCpu));
}

TEST(PowercapDirectory, IsARaplZoneByItsControlType) {
  EXPECT_TRUE(is_rapl_zone("intel-rapl:0"));
  EXPECT_TRUE(is_rapl_zone("intel-rapl:0:1"));
  EXPECT_TRUE(is_rapl_zone("intel-rapl-mmio:0"));
  EXPECT_FALSE(is_rapl_zone("intel-rapl"));
  EXPECT_FALSE(is_rapl_zone("intel-rapl-mmio"));
  EXPECT_FALSE(is_rapl_zone("dtpm:0"));
  EXPECT_FALSE(is_rapl_zone("arm-scmi:0"));
  EXPECT_FALSE(is_rapl_zone("intel-raplx:0"));
}

TEST(PowercapDirectory, NamesItsParent) {
  EXPECT_EQ(powercap_parent("intel-rapl:0:1"), "intel-rapl:0");
  EXPECT_EQ(powercap_parent("intel-rapl:0"), "intel-rapl");
  EXPECT_EQ(powercap_parent("intel-rapl"), "");
}

TEST(PackageNames, HaveANumberAndPerhapsADie) {
  EXPECT_EQ(parse_package_name("package-0"), (PackageName{0, -1}));
  EXPECT_EQ(parse_package_name("package-12-die-3"), (PackageName{12, 3}));
  for (const char* name : {"package", "package-", "package-x", "package--1", "package-0-die-",
                           "package-0-die--1", "package-0 ", "package-99999999999", "core", ""}) {
    EXPECT_EQ(parse_package_name(name), std::nullopt) << name;
  }
}

TEST(PowercapZones, TakeThePackagesNumberAndNotTheDirectorys) {
  EXPECT_THAT(
      reported(zones_of(
          {{"intel-rapl:0", "package-1"}, {"intel-rapl:1", "package-0"}, {"intel-rapl:1:0", "dram"}})),
      ElementsAre("+powercap:package:0@intel-rapl:1", "+powercap:package:1@intel-rapl:0",
                  "+powercap:dram:0@intel-rapl:1:0"));
}

TEST(PowercapZones, CountPackagesAndDramIntoTheTotal) {
  EXPECT_THAT(reported(zones_of({{"intel-rapl:0", "package-0"},
                                 {"intel-rapl:0:0", "core"},
                                 {"intel-rapl:0:1", "uncore"},
                                 {"intel-rapl:0:2", "dram"},
                                 {"intel-rapl:1", "psys"}})),
              ElementsAre("+powercap:package:0@intel-rapl:0", "+powercap:dram:0@intel-rapl:0:2",
                          "powercap:core:0@intel-rapl:0:0", "powercap:uncore:0@intel-rapl:0:1",
                          "powercap:psys:0@intel-rapl:1"));
}

TEST(PowercapZones, NumberDiesOverAllPackages) {
  EXPECT_THAT(reported(zones_of({{"intel-rapl:0", "package-1-die-1"},
                                 {"intel-rapl:1", "package-0-die-1"},
                                 {"intel-rapl:1:0", "dram"},
                                 {"intel-rapl:2", "package-1-die-0"},
                                 {"intel-rapl:3", "package-0-die-0"},
                                 {"intel-rapl:0:0", "dram"}})),
              ElementsAre("+powercap:package:0@intel-rapl:3", "+powercap:package:1@intel-rapl:1",
                          "+powercap:package:2@intel-rapl:2", "+powercap:package:3@intel-rapl:0",
                          "+powercap:dram:1@intel-rapl:1:0", "+powercap:dram:3@intel-rapl:0:0"));
}

TEST(PowercapZones, TakeATwinOfAnotherDriverOnce) {
  const std::vector<std::string> once = {"+powercap:package:0@intel-rapl:0",
                                         "+powercap:dram:0@intel-rapl:0:1"};
  EXPECT_EQ(reported(zones_of({{"intel-rapl-mmio:0", "package-0"},
                               {"intel-rapl-mmio:0:0", "dram"},
                               {"intel-rapl:0", "package-0"},
                               {"intel-rapl:0:1", "dram"}})),
            once);
  EXPECT_EQ(reported(zones_of({{"intel-rapl:0:1", "dram"},
                               {"intel-rapl:0", "package-0"},
                               {"intel-rapl-mmio:0:0", "dram"},
                               {"intel-rapl-mmio:0", "package-0"}})),
            once);
}

TEST(PowercapZones, TakeADieOfferedTwiceOnce) {
  EXPECT_THAT(reported(zones_of({{"intel-rapl-mmio:0", "package-0-die-1"},
                                 {"intel-rapl-mmio:1", "package-0-die-0"},
                                 {"intel-rapl:0", "package-0-die-0"},
                                 {"intel-rapl:1", "package-0-die-1"}})),
              ElementsAre("+powercap:package:0@intel-rapl:0", "+powercap:package:1@intel-rapl:1"));
}

TEST(PowercapZones, TakeATwinOfTheSameControlTypeOnceAndTheLowestDirectory) {
  // MSR and TPMI drivers register the same control type.
  EXPECT_THAT(reported(zones_of({{"intel-rapl:10", "package-0"},
                                 {"intel-rapl:10:0", "dram"},
                                 {"intel-rapl:2", "package-0"},
                                 {"intel-rapl:2:0", "dram"}})),
              ElementsAre("+powercap:package:0@intel-rapl:2", "+powercap:dram:0@intel-rapl:2:0"));
}

TEST(PowercapZones, KeepMmioWhereItIsAlone) {
  EXPECT_THAT(reported(zones_of({{"intel-rapl-mmio:0", "package-0"}})),
              ElementsAre("+powercap:package:0@intel-rapl-mmio:0"));
}

TEST(PowercapZones, KeepWhatOnlyTheTwinHas) {
  EXPECT_THAT(reported(zones_of({{"intel-rapl:0", "package-0"},
                                 {"intel-rapl-mmio:0", "package-0"},
                                 {"intel-rapl-mmio:0:0", "dram"}})),
              ElementsAre("+powercap:package:0@intel-rapl:0", "+powercap:dram:0@intel-rapl-mmio:0:0"));
}

TEST(PowercapZones, NumberPsysInOrder) {
  EXPECT_THAT(
      reported(zones_of({{"intel-rapl:3", "psys"}, {"intel-rapl:1", "psys"}, {"intel-rapl-mmio:0", "psys"}})),
      ElementsAre("powercap:psys:0@intel-rapl:1", "powercap:psys:1@intel-rapl:3"));
}

TEST(PowercapZones, DropTheSingleCoreOfAmdAndCallTheRestModelled) {
  const auto zones = zones_of({{"intel-rapl:0", "package-0"}, {"intel-rapl:0:0", "core"}}, true);
  ASSERT_THAT(reported(zones), ElementsAre("+powercap:package:0@intel-rapl:0"));
  EXPECT_EQ(zones[0].zone.quality, Quality::kModelled);
  EXPECT_EQ(zones_of({{"intel-rapl:0", "package-0"}})[0].zone.quality, Quality::kMeasured);
}

TEST(PowercapZones, IgnoreOtherControlTypes) {
  EXPECT_THAT(
      reported(zones_of({{"dtpm:0", "package-0"}, {"dtpm:0:0", "dram"}, {"arm-scmi:0", "package-0"}})),
      IsEmpty());
}

TEST(PowercapZones, PassOverWhatHasNoNameOrNoKnownParent) {
  EXPECT_THAT(
      reported(zones_of({{"intel-rapl:0", ""}, {"intel-rapl:0:0", "dram"}, {"intel-rapl:7:0", "dram"}})),
      IsEmpty());
}

TEST(PowercapZones, EscapeStrangeNames) {
  EXPECT_THAT(reported(zones_of({{"intel-rapl:0", "a\x1b[31m"}})),
              ElementsAre("powercap:a\\x1b[31m:0@intel-rapl:0"));
}

TEST(PowercapZones, KnowTheirRange) {
  const auto range_of = [](const std::string& text) {
    return powercap_zones({{"intel-rapl:0", "package-0", text, {}}}, {}).at(0).zone.range;
  };
  EXPECT_EQ(range_of("262143328850"), Microjoules{262'143'328'850});
  EXPECT_EQ(range_of("0"), Microjoules{0});
  EXPECT_EQ(range_of(""), Microjoules{0});
  EXPECT_EQ(range_of("-5"), Microjoules{0});
  EXPECT_EQ(range_of("garbage"), Microjoules{0});
}

TEST(PowercapZones, KnowTheirLargestCredibleLimit) {
  const auto limit_of = [](const std::vector<std::string>& texts) {
    return powercap_zones({{"intel-rapl:0", "package-0", "1000", texts}}, {}).at(0).zone.largest_limit;
  };
  EXPECT_EQ(limit_of({"15000000", "64000000", "0", "28000000"}), Microwatts{64'000'000});
  EXPECT_EQ(limit_of({"0", "0"}), Microwatts{0});
  EXPECT_EQ(limit_of({}), Microwatts{0});
  EXPECT_EQ(limit_of({"abc", "", "-7", "9223372036854775807", "99999999999999999999", "30000000\n"}),
            Microwatts{30'000'000});
}

TEST(EnergyCounter, IsAWholeNumberOfMicrojoules) {
  EXPECT_EQ(*parse_energy_counter("240422366267\n"), Microjoules{240'422'366'267});
  EXPECT_EQ(*parse_energy_counter("0"), Microjoules{0});
  EXPECT_EQ(*parse_energy_counter("9223372036854775807\n"), Microjoules{INT64_MAX});
}

TEST(EnergyCounter, IsNotGarbage) {
  for (const char* text : {"", "\n", "abc", "-1", "12 34", "1.5", "0x10", "9223372036854775808", "+1"}) {
    EXPECT_FALSE(parse_energy_counter(text)) << text;
  }
  EXPECT_EQ(parse_energy_counter("a\tb\n").error().message, "\"a\\x09b\" is not a number of microjoules");
}

}  // namespace
}  // namespace keplerd
