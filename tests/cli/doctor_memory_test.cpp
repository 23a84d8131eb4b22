// SPDX-License-Identifier: Apache-2.0
// What doctor says about the traffic of memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/doctor/memory.h"
#include "cli/sample_facts.h"
#include "support/fake_host.h"

namespace keplerd::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class DoctorMemory : public testing::Test {
 protected:
  DoctorMemory() {
    facts_ = healthy();
    facts_.zones = {{{"id", "powercap:dram:0"}, {"name", "dram"}}};
  }
  Check check() {
    const auto checks = check_memory(facts_);
    return checks.size() == 1 ? checks.front() : Check{};
  }
  DoctorFacts facts_;
};

TEST_F(DoctorMemory, AHostThatCanSayNothingHasNoLine) {
  EXPECT_THAT(check_memory(facts_), IsEmpty());
  facts_.memory.counts_groups = true;
  facts_.zones = {{{"id", "powercap:package:0"}, {"name", "package"}}};
  EXPECT_THAT(check_memory(facts_), IsEmpty()) << "nothing to divide";
}

TEST_F(DoctorMemory, WhatTheHostCouldSayAndWhatItCosts) {
  facts_.memory.can_count = true;
  EXPECT_THAT(check().found, HasSubstr("the processor can count the traffic"));
  EXPECT_THAT(check().hint, HasSubstr("mount resctrl"));
  facts_.memory.counts_groups = true;
  facts_.memory.groups = 12;
  EXPECT_EQ(check().state, CheckState::kOk);
  EXPECT_EQ(check().found, "divided by a model; resctrl counts the traffic of 12 monitoring groups");
  EXPECT_THAT(check().hint, HasSubstr("enable --now keplerd-resctrl"));
  EXPECT_THAT(check().hint, HasSubstr("is interrupted twice for each of the groups"));
}

TEST_F(DoctorMemory, WhatKeplerdResctrlReports) {
  facts_.memory.report = "2000000 1000000 150";
  facts_.memory.boottime = std::chrono::seconds(3);
  EXPECT_EQ(check().state, CheckState::kOk);
  EXPECT_THAT(check().found, HasSubstr("no monitoring group holds a cgroup"));
  facts_.memory.measured = 3;
  EXPECT_EQ(check().state, CheckState::kOk);
  EXPECT_EQ(check().found, "divided by its traffic for 3 cgroups, and by a model for the rest");
  for (const char* const report : {"2000000 1000000 150", "", "18446744073709551616 1 1", "x"}) {
    facts_.memory.report = report;
    facts_.memory.boottime = std::chrono::seconds(63);
    EXPECT_EQ(check().state, CheckState::kWarning) << report;
    EXPECT_THAT(check().found, HasSubstr("is out of date")) << report;
  }
  facts_.memory.report = "unknown no counter has been assigned to this group\x1b";
  EXPECT_EQ(check().state, CheckState::kWarning);
  EXPECT_EQ(
      check().found,
      "divided by a model, because its traffic is unknown: no counter has been assigned to this group\\x1b");
}

TEST(DoctorMemoryFacts, AreOfTheHost) {
  FakeHost host;
  const auto facts = [&] { return gather_facts("/nonexistent/socket", host.paths()).memory; };
  EXPECT_FALSE(facts().can_count);
  EXPECT_FALSE(facts().counts_groups);
  EXPECT_FALSE(facts().report);
  host.set_cpu_vendor("GenuineIntel", "fpu cqm_mbm_total cqm_mbm_local");
  EXPECT_TRUE(facts().can_count);
  host.write("sys/fs/resctrl/info/L3_MON/mon_features", "llc_occupancy\nmbm_total_bytes\n");
  for (const char* group : {"mon_groups/a", "web", "web/mon_groups/db"})
    host.write(std::string("sys/fs/resctrl/") + group + "/tasks", "");
  host.write("sys/fs/resctrl/mon_data/mon_L3_00/mbm_total_bytes", "1\n");
  EXPECT_TRUE(facts().counts_groups);
  EXPECT_EQ(facts().groups, 3U);
  host.write("root/run/keplerd-usage/resctrl/memory-0", "unknown it is Unavailable\n");
  EXPECT_EQ(facts().report, "unknown it is Unavailable");
  host.write("root/run/keplerd-usage/resctrl/memory-0", "5 1 150\n7 50 1\n8 50 1\n");
  EXPECT_EQ(facts().report, "5 1 150");
  EXPECT_EQ(facts().measured, 2U);
  EXPECT_GT(facts().boottime, std::chrono::microseconds(5));
}

}  // namespace
}  // namespace keplerd::cli
