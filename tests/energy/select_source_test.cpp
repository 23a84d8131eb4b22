// SPDX-License-Identifier: Apache-2.0
#include "energy/select_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_host.h"
#include "support/fake_perf.h"

namespace keplerd {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(SourceNames, AreThoseThatAreBuilt) {
  EXPECT_THAT(source_names(),
              ElementsAre("auto", "perf", "powercap", "guest", "hwmon", "estimated", "simulated"));
}

TEST(SourceNames, AreTheOnlyOnesTaken) {
  EXPECT_TRUE(check_source_name("auto"));
  EXPECT_TRUE(check_source_name("simulated"));
  EXPECT_EQ(check_source_name("Powercap").error().message,
            "energy source \"Powercap\" does not exist (use one of: auto, perf, powercap, guest, hwmon, "
            "estimated, simulated)");
  EXPECT_FALSE(check_source_name(""));
}

TEST(SelectSource, TakesPowercapByItself) {
  FakeHost fake;
  fake.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0"});
  const auto source = select_source(fake.open(), {});
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->name(), "powercap");
}

TEST(SelectSource, PrefersPerfWhereItHasEventsAndIsPermitted) {
  FakeHost fake;
  FakePerf perf;
  const SourceChoice choice{.open_perf_counter = perf.opener()};
  fake.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0"});
  FakePerf::add_pmu(fake, "0");
  FakePerf::add_cpu(fake, 0, 0);
  EXPECT_EQ((*select_source(fake.open(), choice))->name(), "powercap");
  FakePerf::add_event(fake, "energy-pkg", FakePerf::kPackage);
  EXPECT_EQ((*select_source(fake.open(), choice))->name(), "perf");
  perf.open_error = EACCES;
  EXPECT_EQ((*select_source(fake.open(), choice))->name(), "powercap");
}

TEST(SelectSource, NeverSimulatesByItself) {
  const FakeHost fake;
  const auto source = select_source(fake.open(), {});
  ASSERT_FALSE(source);
  EXPECT_THAT(source.error().message, HasSubstr("/sys/bus/event_source/devices/power"));
  EXPECT_THAT(source.error().message, HasSubstr("/sys/class/powercap: No such file or directory"));
}

TEST(SelectSource, SimulatesOnRequest) {
  FakeHost fake;
  fake.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0"});
  const auto source = select_source(fake.open(), {.source = "simulated", .zones = {}});
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->name(), "simulated");
}

TEST(SelectSource, PassesTheChoiceOfZonesOn) {
  FakeHost fake;
  fake.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0"});
  fake.add_powercap_zone({.dir = "intel-rapl:0:0", .name = "dram"});
  const auto source = select_source(fake.open(), {.source = "auto", .zones = {"dram"}});
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->zones().size(), 1U);
  const auto none = select_source(fake.open(), {.source = "powercap", .zones = {"gpu"}});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("this host has dram, package"));
}

TEST(SelectSource, FindsAMeterThatAppears) {
  FakeHost fake;
  const auto host = fake.open();
  EXPECT_FALSE(select_source(host, {}));
  fake.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0"});
  EXPECT_TRUE(select_source(host, {}));
}

TEST(ProbeSources, GivesReasonAndFix) {
  const FakeHost fake;
  const auto probes = probe_sources(fake.open());
  ASSERT_EQ(probes.size(), 6U);
  EXPECT_EQ(probes[0].name, "perf");
  EXPECT_FALSE(probes[0].usable);
  EXPECT_EQ(probes[1].name, "powercap");
  EXPECT_FALSE(probes[1].usable);
  EXPECT_THAT(probes[1].reason, EndsWith("/sys/class/powercap: No such file or directory"));
  EXPECT_THAT(probes[1].fix, StartsWith("modprobe intel_rapl_msr"));
  EXPECT_EQ(probes[2].name, "guest");
  EXPECT_THAT(probes[2].reason, EndsWith("root/run/keplerd-meter: No such file or directory"));
  EXPECT_EQ(probes[2].fix, "") << "it is no virtual machine";
  EXPECT_EQ(probes[3].name, "hwmon");
  EXPECT_EQ(probes[4].name, "estimated");
  EXPECT_EQ(probes[4].reason,
            "estimated: IdleWatts= and MaxWatts= are not set, and what this processor typically draws is not "
            "known");
  EXPECT_EQ(probes[5].name, "simulated");
  EXPECT_TRUE(probes[5].usable);
  EXPECT_EQ(probes[5].reason, "");
}

}  // namespace
}  // namespace keplerd
