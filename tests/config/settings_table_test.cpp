// SPDX-License-Identifier: Apache-2.0
#include "config/settings_table.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The settings after that one key, from the defaults.
Settings with(std::string_view section, std::string_view key, std::string_view value) {
  Settings settings;
  const auto done = set_setting(settings, section, key, value);
  EXPECT_TRUE(done.ok()) << done.error().message;
  return settings;
}

std::string refusal(std::string_view section, std::string_view key, std::string_view value) {
  Settings settings;
  const auto done = set_setting(settings, section, key, value);
  EXPECT_EQ(settings, Settings{}) << "touched by " << value;
  return done ? "accepted" : done.error().message;
}

TEST(Source, IsOneThatIsBuilt) {
  EXPECT_EQ(with("Energy", "Source", "powercap").energy.source, "powercap");
  EXPECT_EQ(with("Energy", "Source", "simulated").energy.source, "simulated");
  EXPECT_EQ(with("Energy", "Source", "auto").energy.source, "auto");
  EXPECT_EQ(with("Energy", "Source", "guest").energy.source, "guest");
  EXPECT_EQ(refusal("Energy", "Source", "Powercap"),
            "Source=Powercap: unknown; accepted: auto, perf, powercap, guest, hwmon, simulated, estimated");
}

TEST(Vms, AreNamesOrUuidsOrAll) {
  EXPECT_THAT(with("Guests", "Machines", "web,2b9a43a1-5a5f-4cf0-9d3a-6a6f3a1d2c01 4711.99").guests.vms,
              ElementsAre("web", "2b9a43a1-5a5f-4cf0-9d3a-6a6f3a1d2c01", "4711.99"));
  EXPECT_THAT(with("Guests", "Machines", "all").guests.vms, ElementsAre("all"));
  EXPECT_THAT(with("Guests", "Machines", "").guests.vms, IsEmpty());
  for (const char* text : {"web*", "\"web\"", "../web", "a\x01"}) {
    EXPECT_THAT(refusal("Guests", "Machines", text), HasSubstr("must be UUIDs or names of VMs"));
  }
}

TEST(Groups, ArePatternsOfUnitsOrPathsOrTheLargest) {
  EXPECT_THAT(with("Resctrl", "Groups", "db.service machine-qemu*.scope,/docker/* largest").resctrl.groups,
              ElementsAre("db.service", "machine-qemu*.scope", "/docker/*", "largest"));
  EXPECT_THAT(with("Resctrl", "Groups", "").resctrl.groups, IsEmpty());
  EXPECT_THAT(with("Perf", "Cgroups", "db.service").perf.cgroups, ElementsAre("db.service"));
  for (const char* text : {"\"db.service\"", "db;service", "#db", "a\x01"})
    EXPECT_THAT(refusal("Resctrl", "Groups", text), HasSubstr("must be names of units, paths of cgroups"));
}

TEST(Descriptors, AreEnoughForAllThatRunsAndNotEndless) {
  EXPECT_EQ(with("Perf", "Descriptors", "64").perf.descriptors, 64U);
  EXPECT_EQ(with("Perf", "Descriptors", "200000").perf.descriptors, 200'000U);
  for (const char* text : {"63", "200001", "-1", "many"})
    EXPECT_THAT(refusal("Perf", "Descriptors", text), HasSubstr("must be a number between 64 and 200000"));
}

TEST(Vms, WhoseNameEndsInABackslashAreReadBack) {
  for (const char* text : {"a\\,", "a\\\\,,", "a\\ b", "a\\,b\\,"}) {
    const Settings settings = with("Guests", "Machines", text);
    const auto again = parse_settings(format_settings(settings), "again.conf", {});
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, settings) << text;
  }
}

TEST(Metadata, IsYesOrNo) {
  EXPECT_TRUE(with("Guests", "Metadata", "yes").guests.by_metadata);
  EXPECT_FALSE(with("Guests", "Metadata", "no").guests.by_metadata);
  EXPECT_EQ(refusal("Guests", "Metadata", "1"), "Metadata=1: unknown; accepted: yes, no");
}

TEST(Directories, AreAbsoluteAndPlain) {
  EXPECT_EQ(with("Guests", "Directory", "/srv/meters").guests.directory, "/srv/meters");
  EXPECT_EQ(with("Energy", "GuestMeter", "/var/scaphandre").energy.guest_meter, "/var/scaphandre");
  for (const char* text : {"/", "run/x", "/run/x/", "/run/../etc", "/run//x", "/./x", "/run/\x01"}) {
    EXPECT_THAT(refusal("Guests", "Directory", text), HasSubstr("must be the absolute path of a directory"));
    EXPECT_THAT(refusal("Energy", "GuestMeter", text), HasSubstr("must be the absolute path of a directory"));
  }
}

TEST(Watts, AreADecimalNumber) {
  EXPECT_EQ(with("Energy", "IdleWatts", "12.5").energy.idle_power, Microwatts{12'500'000});
  EXPECT_EQ(with("Energy", "IdleWatts", "0").energy.idle_power, Microwatts{0});
  EXPECT_EQ(with("Energy", "MaxWatts", "300").energy.max_power, Microwatts{300'000'000});
  EXPECT_EQ(with("Energy", "MaxWatts", "").energy.max_power, std::nullopt);
  for (const char* text : {"-1", "12W", "1e3", "100001", "a", "1kJ", "12 5", "."}) {
    EXPECT_EQ(
        refusal("Energy", "MaxWatts", text),
        std::string("MaxWatts=") + text + ": must be a number of watts like 35 or 12.5, at most 100000");
  }
}

TEST(Estimated, NeedsACurveThatRises) {
  Settings settings{.energy = {.source = "estimated", .source_place = {"f.conf:2"}}};
  EXPECT_TRUE(check_together(settings)) << "what is not set depends on the processor";
  settings.energy.idle_power = Microwatts{30'000'000};
  EXPECT_TRUE(check_together(settings));
  settings.energy.max_power = Microwatts{20'000'000};
  EXPECT_EQ(check_together(settings).error().message,
            "f.conf:2: Source=estimated needs a MaxWatts= above 0 that is not below IdleWatts=");
  settings.energy.source_place = {};
  EXPECT_EQ(check_together(settings).error().message,
            "Source=estimated needs a MaxWatts= above 0 that is not below IdleWatts=");
  settings.energy.max_power = Microwatts{30'000'000};
  EXPECT_TRUE(check_together(settings));
  EXPECT_TRUE(check_together(Settings{}));
}

TEST(Zones, AreSeparatedByBlanksOrCommas) {
  EXPECT_THAT(with("Energy", "Zones", "package dram").energy.zones, ElementsAre("package", "dram"));
  EXPECT_THAT(with("Energy", "Zones", "package-0,dram,\tpsys ,").energy.zones,
              ElementsAre("package-0", "dram", "psys"));
  EXPECT_THAT(with("Energy", "Zones", "").energy.zones, IsEmpty());
  EXPECT_THAT(refusal("Energy", "Zones", "\"package\""),
              HasSubstr("Zones=\"package\": must be names of zones"));
}

TEST(Interval, IsZeroOrTenMillisecondsToThirtySeconds) {
  EXPECT_EQ(with("Sampling", "Interval", "0").sampling.interval, 0ns);
  EXPECT_EQ(with("Sampling", "Interval", "10ms").sampling.interval, 10ms);
  EXPECT_EQ(with("Sampling", "Interval", "30s").sampling.interval, 30s);
  EXPECT_EQ(refusal("Sampling", "Interval", "9999us"),
            "Interval=9999us: must be 0 (sample on demand) or from 10ms to 30s");
  EXPECT_THAT(refusal("Sampling", "Interval", "30001ms"), HasSubstr("an energy counter may wrap"));
  EXPECT_THAT(refusal("Sampling", "Interval", "soon"), HasSubstr("must be a time span"));
  EXPECT_THAT(refusal("Sampling", "Interval", "-1s"), HasSubstr("must be a time span"));
}

TEST(UnwatchedInterval, IsNeitherZeroNorLongerThanThirtySeconds) {
  EXPECT_EQ(with("Sampling", "UnwatchedInterval", "10ms").sampling.unwatched_interval, 10ms);
  EXPECT_EQ(with("Sampling", "UnwatchedInterval", "30s").sampling.unwatched_interval, 30s);
  EXPECT_EQ(refusal("Sampling", "UnwatchedInterval", "0"), "UnwatchedInterval=0: must be from 10ms to 30s");
  EXPECT_EQ(refusal("Sampling", "UnwatchedInterval", "31s"),
            "UnwatchedInterval=31s: must be from 10ms to 30s");
}

TEST(Staleness, IsAtMostThirtySeconds) {
  EXPECT_EQ(with("Sampling", "Staleness", "0").sampling.staleness, 0ns);
  EXPECT_EQ(with("Sampling", "Staleness", "30s").sampling.staleness, 30s);
  EXPECT_EQ(refusal("Sampling", "Staleness", "31s"), "Staleness=31s: must be from 0 to 30s");
}

TEST(Rules, OfIdleEnergyAreSeparateEqualSizeAndUsage) {
  EXPECT_EQ(refusal("Attribution", "Idle", "none"),
            "Idle=none: unknown; accepted: separate, equal, size, usage");
  EXPECT_EQ(with("Attribution", "Idle", "separate").attribution.idle, IdlePolicy::kSeparate);
  EXPECT_EQ(with("Attribution", "Idle", "equal").attribution.idle, IdlePolicy::kEqual);
  EXPECT_EQ(with("Attribution", "Idle", "size").attribution.idle, IdlePolicy::kSize);
  EXPECT_EQ(with("Attribution", "Idle", "usage").attribution.idle, IdlePolicy::kUsage);
}

TEST(Rules, OfTheDivisionAreAutoUnlessSet) {
  EXPECT_EQ(with("Attribution", "Split", "baseline").attribution.split, SplitRule::kBaseline);
  EXPECT_EQ(with("Attribution", "Split", "").attribution.split, SplitRule::kAuto);
  EXPECT_EQ(with("Attribution", "Share", "learned").attribution.share, ShareRule::kLearned);
  EXPECT_EQ(refusal("Attribution", "Split", "ratio"),
            "Split=ratio: unknown; accepted: auto, usage-ratio, baseline");
  EXPECT_EQ(refusal("Attribution", "Share", "baseline"),
            "Share=baseline: unknown; accepted: auto, cpu-time, learned, instructions, cycles");
}

TEST(IdlePower, IsInWattsAndNotSetByDefault) {
  EXPECT_EQ(with("Attribution", "IdlePower", "23.5").attribution.idle_power, Microwatts{23'500'000});
  EXPECT_EQ(with("Attribution", "IdlePower", "").attribution.idle_power, std::nullopt);
}

TEST(Rules, HaveTheNamesOfTheFile) {
  EXPECT_EQ(rule_name(SplitRule::kUsageRatio), "usage-ratio");
  EXPECT_EQ(rule_name(ShareRule::kCpuTime), "cpu-time");
  EXPECT_EQ(rule_name(ShareRule::kInstructions), "instructions");
  EXPECT_EQ(rule_name(ShareRule::kCycles), "cycles");
  EXPECT_EQ(rule_name(IdlePolicy::kSeparate), "separate");
}

TEST(Terminated, MayBeWithoutBound) {
  EXPECT_EQ(with("Workloads", "TerminatedMax", "0").workloads.terminated_max, 0u);
  EXPECT_EQ(with("Workloads", "TerminatedMax", "12").workloads.terminated_max, 12u);
  EXPECT_EQ(with("Workloads", "TerminatedMax", "infinity").workloads.terminated_max, std::nullopt);
  EXPECT_EQ(with("Workloads", "TerminatedMax", "-1").workloads.terminated_max, std::nullopt);
  EXPECT_THAT(refusal("Workloads", "TerminatedMax", "-2"), HasSubstr("must be a number"));
  EXPECT_THAT(refusal("Workloads", "TerminatedMax", "4294967296"), HasSubstr("must be a number"));
  EXPECT_EQ(with("Workloads", "TerminatedRetention", "1h").workloads.terminated_retention, 1h);
  EXPECT_EQ(with("Workloads", "TerminatedRetention", "infinity").workloads.terminated_retention,
            std::nullopt);
  EXPECT_THAT(refusal("Workloads", "TerminatedRetention", "-1"), HasSubstr("must be a time span"));
  EXPECT_EQ(with("Workloads", "VmRetention", "2y").workloads.vm_retention, 2 * 365.25 * 24h);
}

TEST(Terminated, MinEnergyIsAnAmountOfEnergy) {
  EXPECT_EQ(with("Workloads", "TerminatedMinEnergy", "1Wh").workloads.terminated_min_energy,
            Microjoules{3'600'000'000});
  EXPECT_EQ(with("Workloads", "TerminatedMinEnergy", "0").workloads.terminated_min_energy, Microjoules{0});
  EXPECT_THAT(refusal("Workloads", "TerminatedMinEnergy", "1W"), HasSubstr("must be an amount of energy"));
}

TEST(EmptyValue, BringsBackTheDefault) {
  Settings settings{
      .energy = {.source = "simulated", .zones = {"dram"}},
      .sampling = {.interval = 0ns, .staleness = 0ns},
      .workloads = {
          .terminated_max = {}, .terminated_min_energy = {}, .terminated_retention = {}, .vm_retention = {}}};
  for (const auto& text : describe_settings(settings)) {
    ASSERT_TRUE(set_setting(settings, text.section, text.key, "").ok()) << text.key;
  }
  EXPECT_EQ(settings, Settings{});
}

TEST(Public, IsOneOfFour) {
  EXPECT_EQ(with("Access", "Public", "none").access.public_access, PublicAccess::kNone);
  EXPECT_EQ(with("Access", "Public", "own").access.public_access, PublicAccess::kOwn);
  EXPECT_EQ(with("Access", "Public", "host").access.public_access, PublicAccess::kHost);
  EXPECT_EQ(with("Access", "Public", "all").access.public_access, PublicAccess::kAll);
  EXPECT_EQ(refusal("Access", "Public", "yes"), "Public=yes: unknown; accepted: none, own, host, all");
}

TEST(UnknownKey, NamesWhatTheSectionAccepts) {
  EXPECT_EQ(
      refusal("Sampling", "Intreval", "1s"),
      "unknown key Intreval= in section [Sampling]; accepted: Interval=, UnwatchedInterval=, Staleness=");
  EXPECT_EQ(
      refusal("Sampling", "interval", "1s"),
      "unknown key interval= in section [Sampling]; accepted: Interval=, UnwatchedInterval=, Staleness=");
  EXPECT_EQ(refusal("Sampling", "Source", "auto"), "Source= belongs in section [Energy]");
  EXPECT_EQ(refusal("", "Source", "auto"), "Source= is set before the first [Section]");
}

TEST(UnknownSection, NamesThoseThatAre) {
  EXPECT_EQ(refusal("Foo", "Source", "auto"),
            "unknown section [Foo]; accepted: [Energy], [Sampling], [Attribution], [Workloads], [Access], "
            "[Guests], [Resctrl], [Perf]");
}

TEST(Refusal, IsOneLineWhateverTheValue) {
  EXPECT_EQ(refusal("Sampling", "Staleness", "1\n\x1b[2J\xff"),
            "Staleness=1\\x0a\\x1b[2J\\xff: must be a time span like 500ms, 1s or \"1min 30s\"");
}

TEST(Table, HasEachKeyOnceAndSectionsInOnePiece) {
  std::set<std::string_view> keys;
  std::set<std::string_view> sections;
  std::string_view section;
  for (const auto& text : describe_settings(Settings{})) {
    EXPECT_TRUE(keys.insert(text.key).second) << text.key;
    if (text.section != section) {
      EXPECT_TRUE(sections.insert(text.section).second) << text.section;
    }
    section = text.section;
  }
}

TEST(Table, ShowsTheDefaults) {
  EXPECT_EQ(
      format_settings(Settings{}),
      "[Energy]\nSource=auto\nZones=\nIdleWatts=\nMaxWatts=\nGuestMeter=/run/keplerd-meter\n\n"
      "[Sampling]\nInterval=1s\nUnwatchedInterval=5s\nStaleness=500ms\n\n"
      "[Attribution]\nSplit=auto\nShare=auto\nIdle=separate\nIdlePower=\n\n"
      "[Workloads]\nTerminatedMax=500\nTerminatedMinEnergy=10J\nTerminatedRetention=2d\nVmRetention=365d\n\n"
      "[Access]\nPublic=own\n\n"
      "[Guests]\nMachines=\nMetadata=no\nDirectory=/run/keplerd-guests\n\n"
      "[Resctrl]\nGroups=\n\n[Perf]\nCgroups=largest\nDescriptors=4096\n");
}

TEST(Table, ReadsBackWhatItShows) {
  const Settings settings{.energy = {.source = "simulated",
                                     .zones = {"package", "dram"},
                                     .idle_power = Microwatts{12'500'000},
                                     .max_power = Microwatts{200'000'001}},
                          .sampling = {.interval = 1500ms, .staleness = 0ns},
                          .workloads = {.terminated_max = std::nullopt,
                                        .terminated_min_energy = {1},
                                        .terminated_retention = std::nullopt},
                          .access = {.public_access = PublicAccess::kAll}};
  Settings again;
  for (const auto& text : describe_settings(settings)) {
    ASSERT_TRUE(set_setting(again, text.section, text.key, text.value).ok()) << text.key;
  }
  EXPECT_EQ(again, settings);
}

}  // namespace
}  // namespace keplerd
