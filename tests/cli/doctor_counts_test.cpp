// SPDX-License-Identifier: Apache-2.0
// What doctor says about what the hardware counts of groups.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/doctor/counts.h"
#include "cli/sample_facts.h"
#include "support/fake_host.h"

namespace keplerd::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class DoctorCounts : public testing::Test {
 protected:
  DoctorCounts() {
    facts_ = healthy();
    facts_.zones = {{{"id", "powercap:dram:0"}, {"name", "dram"}, {"quality", "measured"}}};
  }
  Check check() {
    const auto found = checks();
    return found.size() == 1 ? found.front() : Check{};
  }
  // Those of what resctrl counts.
  std::vector<Check> checks() const {
    auto found = check_counts(facts_);
    std::erase_if(found, [](const Check& one) { return one.name == "counters"; });
    return found;
  }
  DoctorFacts facts_;
  CountFacts& memory_ = facts_.memory_traffic;
  CountFacts& cores_ = facts_.core_energy;
};

TEST_F(DoctorCounts, AHostThatCanSayNothingHasNoLine) {
  EXPECT_THAT(checks(), IsEmpty());
  memory_.counts_groups = true;
  facts_.zones = {{{"id", "powercap:package:0"}, {"name", "package"}, {"quality", "measured"}}};
  EXPECT_THAT(checks(), IsEmpty()) << "nothing to divide";
  facts_.zones = {{{"id", "simulated:dram:0"}, {"name", "dram"}, {"quality", "simulated"}}};
  EXPECT_THAT(checks(), IsEmpty()) << "nothing that is measured";
}

class DoctorCounters : public testing::Test {
 protected:
  DoctorCounters() {
    facts_ = healthy();
    facts_.zones = {{{"id", "powercap:package:0"}, {"name", "package"}, {"quality", "measured"}}};
    facts_.boottime = std::chrono::seconds(3);
  }
  Check check() {
    const auto checks = check_counts(facts_);
    return checks.size() == 1 ? checks.front() : Check{};
  }
  DoctorFacts facts_;
};

TEST_F(DoctorCounters, WhatTheHostCouldCountAndWhatItCosts) {
  facts_.events.counts_groups = true;
  EXPECT_EQ(check().found, "not used; the kernel can count events for cgroups");
  EXPECT_THAT(check().hint, HasSubstr("meant for comparisons"));
  facts_.events.can_count = true;
  EXPECT_THAT(check().hint, HasSubstr("meant for comparisons")) << "there is no energy of memory";
  facts_.zones.front()["name"] = "dram";
  EXPECT_THAT(check().hint, HasSubstr("each switch between cgroups then takes longer"));
  facts_.zones.clear();
  EXPECT_THAT(check_counts(facts_), IsEmpty()) << "nothing to divide";
}

TEST_F(DoctorCounters, WhyAVirtualMachineHasNone) {
  EXPECT_EQ(check().state, CheckState::kOk);
  EXPECT_EQ(check().found, "not used: the kernel reports no hardware counters, as in most virtual machines");
}

TEST_F(DoctorCounters, ASettingThatHasNoEffectIsAWarning) {
  facts_.settings.attribution.share = ShareRule::kCycles;
  EXPECT_EQ(check().state, CheckState::kWarning);
  EXPECT_THAT(check().found, HasSubstr("Share=cycles has no effect, because the kernel reports no"));
  EXPECT_EQ(check().fix, "set Share=auto in keplerd.conf");
  facts_.settings.attribution.share = ShareRule::kInstructions;
  facts_.events.counts_groups = true;
  EXPECT_EQ(check().found, "Share=instructions has no effect, because keplerd-perf is not running");
  facts_.events.report = "2000000 1000000 150";
  EXPECT_EQ(check().state, CheckState::kWarning);
  EXPECT_EQ(check().found, "Share=instructions has no effect, because keplerd-perf counts for no cgroup");
  facts_.events.report = "unknown no hardware counter was free";
  EXPECT_EQ(check().found,
            "Share=instructions has no effect, because the number of events is unknown: no hardware counter "
            "was free");
  EXPECT_EQ(check().fix, "see keplerd-perf(8)");
}

TEST_F(DoctorCounters, WhatKeplerdPerfReports) {
  facts_.events.report = "2000000 1000000 150";
  facts_.events.measured = 3;
  EXPECT_EQ(check().state, CheckState::kOk);
  EXPECT_EQ(check().found, "keplerd-perf counts for 3 cgroups");
  facts_.settings.attribution.share = ShareRule::kCpuTime;
  EXPECT_THAT(check().found, HasSubstr("with Share=cpu-time, its counts are not used"));
  facts_.settings.attribution.share = ShareRule::kAuto;
  facts_.boottime = std::chrono::seconds(63);
  EXPECT_EQ(check().found, "not used, because the report of keplerd-perf is out of date");
}

TEST_F(DoctorCounts, WhatIsNotUsedIsNotSaidToBe) {
  facts_.settings.attribution.share = ShareRule::kCpuTime;
  memory_.counts_groups = true;
  EXPECT_THAT(checks(), IsEmpty());
  memory_.report = "2000000 1000000 150";
  memory_.measured = 3;
  EXPECT_EQ(check().found, "divided by CPU time; with Share=cpu-time, its traffic is not used");
}

TEST_F(DoctorCounts, WhatTheHostCouldSayAndWhatItCosts) {
  memory_.can_count = true;
  EXPECT_THAT(check().found, HasSubstr("the processor can count the traffic"));
  EXPECT_THAT(check().hint, HasSubstr("mount resctrl"));
  memory_.counts_groups = true;
  facts_.monitoring_groups = 12;
  EXPECT_EQ(check().state, CheckState::kOk);
  EXPECT_EQ(check().found, "divided by a model; resctrl counts the traffic of 12 monitoring groups");
  EXPECT_THAT(check().hint, HasSubstr("enable --now keplerd-resctrl"));
  EXPECT_THAT(check().hint, HasSubstr("is interrupted twice for each of the groups"));
}

TEST_F(DoctorCounts, WhatKeplerdResctrlReports) {
  memory_.report = "2000000 1000000 150";
  facts_.boottime = std::chrono::seconds(3);
  EXPECT_EQ(check().state, CheckState::kOk);
  EXPECT_THAT(check().found, HasSubstr("no monitoring group holds a cgroup"));
  memory_.measured = 3;
  EXPECT_EQ(check().state, CheckState::kOk);
  EXPECT_EQ(check().found, "divided by its traffic for 3 cgroups, and by a model for the rest");
  for (const char* const report : {"2000000 1000000 150", "", "18446744073709551616 1 1", "x"}) {
    memory_.report = report;
    facts_.boottime = std::chrono::seconds(63);
    EXPECT_EQ(check().state, CheckState::kWarning) << report;
    EXPECT_THAT(check().found, HasSubstr("is out of date")) << report;
  }
  memory_.report = "unknown no counter has been assigned to this group\x1b";
  EXPECT_EQ(check().state, CheckState::kWarning);
  EXPECT_EQ(
      check().found,
      "divided by a model, because its traffic is unknown: no counter has been assigned to this group\\x1b");
}

TEST_F(DoctorCounts, CoresHaveALineOfTheirOwn) {
  cores_.counts_groups = true;
  facts_.monitoring_groups = 12;
  EXPECT_THAT(checks(), IsEmpty()) << "there is no package";
  facts_.zones = {{{"id", "powercap:package:0"}, {"name", "package"}, {"quality", "measured"}}};
  EXPECT_EQ(check().name, "cores");
  EXPECT_EQ(check().found, "divided by a model; resctrl counts the energy of cores of 12 monitoring groups");
  cores_.report = "2000000 1000000 150";
  cores_.measured = 3;
  EXPECT_EQ(check().found, "divided by the energy of their cores for 3 cgroups, and by a model for the rest");
  facts_.zones.push_back({{"id", "powercap:dram:0"}, {"name", "dram"}, {"quality", "modelled"}});
  memory_.can_count = true;
  EXPECT_EQ(checks().size(), 2U);
}

class DoctorCountFacts : public testing::Test {
 protected:
  const DoctorFacts& facts() { return all_ = gather_facts("/nonexistent/socket", host.paths()); }
  FakeHost host;
  DoctorFacts all_;
};

TEST_F(DoctorCountFacts, AreOfTheHost) {
  const auto memory = [&] { return facts().memory_traffic; };
  EXPECT_FALSE(memory().can_count);
  EXPECT_FALSE(memory().counts_groups);
  EXPECT_FALSE(memory().report);
  host.set_cpu_vendor("GenuineIntel", "fpu cqm_mbm_total cqm_mbm_local");
  EXPECT_TRUE(memory().can_count);
  host.write("sys/fs/resctrl/info/L3_MON/mon_features", "llc_occupancy\nmbm_total_bytes\n");
  for (const char* group : {"mon_groups/a", "web", "web/mon_groups/db"})
    host.write(std::string("sys/fs/resctrl/") + group + "/tasks", "");
  host.write("sys/fs/resctrl/mon_data/mon_L3_00/mbm_total_bytes", "1\n");
  EXPECT_TRUE(memory().counts_groups);
  EXPECT_EQ(all_.monitoring_groups, 3U);
  host.write("root/run/keplerd-usage/resctrl/memory-0", "unknown it is Unavailable\n");
  EXPECT_EQ(memory().report, "unknown it is Unavailable");
  host.write("root/run/keplerd-usage/resctrl/memory-0", "5 1 150\n7 50 1\n8 50 1\n");
  EXPECT_EQ(memory().report, "5 1 150");
  EXPECT_EQ(memory().measured, 2U);
  EXPECT_GT(all_.boottime, std::chrono::microseconds(5));
}

TEST_F(DoctorCountFacts, OfCoresAreInDirectoriesOfTheirOwn) {
  const auto cores = [&] { return facts().core_energy; };
  host.write("sys/fs/resctrl/info/L3_MON/mon_features", "mbm_total_bytes\n");
  EXPECT_FALSE(cores().counts_groups);
  host.write("sys/fs/resctrl/info/PERF_PKG_MON/mon_features", "activity\n");
  EXPECT_FALSE(cores().counts_groups);
  host.write("sys/fs/resctrl/info/PERF_PKG_MON/mon_features", "core_energy\nactivity\n");
  EXPECT_TRUE(cores().counts_groups);
  host.write("root/run/keplerd-usage/resctrl/cores-0", "5 1 150\n7 50 1\n");
  EXPECT_EQ(cores().report, "5 1 150");
  EXPECT_EQ(cores().measured, 1U);
}

TEST_F(DoctorCountFacts, OfEventsAreThoseOfThePmuOfProcessors) {
  const auto events = [&] { return facts().events; };
  host.write("sys/bus/event_source/devices/software/type", "1\n");
  host.write("sys/bus/event_source/devices/power/type", "9\n");
  EXPECT_FALSE(events().counts_groups);
  for (const std::string name : {"cpu", "cpu_core", "armv8_pmuv3_0"}) {
    host.write("sys/bus/event_source/devices/" + name + "/type", "4\n");
    EXPECT_TRUE(events().counts_groups) << name;
    host.set_cpu_vendor(name == "cpu" ? "GenuineIntel" : "AuthenticAMD");
    EXPECT_EQ(events().can_count, name == "cpu") << name;
    std::filesystem::remove_all(host.paths().sysfs + "/bus/event_source/devices/" + name);
  }
  host.write("root/run/keplerd-usage/perf/misses-0", "5 1 150\n7 50 1\n");
  EXPECT_EQ(events().report, "5 1 150");
  EXPECT_EQ(events().measured, 1U);
}

}  // namespace
}  // namespace keplerd::cli
