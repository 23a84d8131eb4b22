// SPDX-License-Identifier: Apache-2.0
// Which groups are found in written trees, and with which values.
#include "meters/resctrl/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "resctrl/tree.h"

namespace keplerd::resctrl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ResctrlGroups : public testing::Test {
 protected:
  // "PATH<PARENT: CACHE=ALL/LOCAL ..."
  std::vector<std::string> texts() {
    const auto groups = read_groups(host_);
    if (!groups) return {"error: " + groups.error().message};
    std::map<std::uint64_t, std::string> paths{{0, "-"}};
    for (const Group& group : *groups) paths[group.id] = "/" + group.path;
    std::vector<std::string> texts;
    for (const Group& group : *groups) {
      std::string text = fmt::format("{}<{}:", paths[group.id], paths[group.parent]);
      for (const auto& [cache, traffic] : group.caches)
        text += traffic ? fmt::format(" {}={}/{}", cache, traffic->all.value, traffic->local.value)
                        : fmt::format(" {}: {}", cache, traffic.error().message);
      for (const auto& [package, energy] : group.packages)
        text += energy ? fmt::format(" package {}={}", package, energy->all.value)
                       : fmt::format(" package {}: {}", package, energy.error().message);
      texts.push_back(text);
    }
    return texts;
  }

  FakeHost fake_;
  HostRoot host_ = fake_.open();
};

TEST_F(ResctrlGroups, WithoutResctrlThereIsAReason) {
  EXPECT_THAT(texts(), ElementsAre("error: /sys/fs/resctrl: resctrl is not mounted"));
  std::filesystem::create_directories(fake_.paths().sysfs + "/fs/resctrl");
  EXPECT_THAT(texts(), ElementsAre("error: /sys/fs/resctrl: resctrl is not mounted"));
}

TEST_F(ResctrlGroups, AProcessorThatCountsNothingIsSaidToCountNothing) {
  fake_.write("sys/fs/resctrl/info/last_cmd_status", "ok\n");
  fake_.write("sys/fs/resctrl/schemata", "L3:0=fff\n");
  EXPECT_THAT(texts(),
              ElementsAre(HasSubstr("counts neither the traffic of memory nor the energy of cores")));
  fake_.write("sys/fs/resctrl/mon_data/mon_L3_00/llc_occupancy", "5\n");
  EXPECT_THAT(texts(),
              ElementsAre(HasSubstr("counts neither the traffic of memory nor the energy of cores")));
}

TEST_F(ResctrlGroups, IntelWithTwoPackages) {
  Tree tree(fake_, 2);
  fake_.write("sys/fs/resctrl/info/L3_MON/num_rmids", "176\n");
  tree.add("mon_groups/vm");
  tree.add("web");
  tree.add("web/mon_groups/db");
  tree.set("", 0, "1000", "900");
  tree.set("mon_groups/vm", 1, "70", "80");
  tree.set("web", 1, "500", "0");
  EXPECT_THAT(texts(), ElementsAre("/<-: 0=1000/900 1=0/0", "/mon_groups/vm</: 0=0/0 1=70/70",
                                   "/web<-: 0=0/0 1=500/0", "/web/mon_groups/db</web: 0=0/0 1=0/0"));
}

// Energy of groups (AET) is in directories of its own, next to the bandwidth's.
TEST_F(ResctrlGroups, IntelWithEnergyOfGroups) {
  Tree tree(fake_);
  fake_.write("sys/fs/resctrl/mon_data/mon_PERF_PKG_00/core_energy", "1234.567890\n");
  fake_.write("sys/fs/resctrl/mon_data/mon_PERF_PKG_00/activity", "0.25\n");
  fake_.write("sys/fs/resctrl/mon_data/mon_PERF_PKG_01/core_energy", "Unavailable\n");
  fake_.write("sys/fs/resctrl/mon_data/mon_PERF_PKG_02/activity", "0.25\n");
  fake_.write("sys/fs/resctrl/mon_data/mon_L3_00/mon_sub_L3_00/mbm_total_bytes", "3\n");
  EXPECT_THAT(texts(), ElementsAre("/<-: 0=0/0 package 0=1234567890 package 1: "
                                   "/sys/fs/resctrl/mon_data/mon_PERF_PKG_01/core_energy: the processor has "
                                   "no counter for this group at present"));
}

TEST_F(ResctrlGroups, EnergyAloneIsEnough) {
  fake_.write("sys/fs/resctrl/mon_data/mon_PERF_PKG_00/core_energy", "1.5\n");
  EXPECT_THAT(texts(), ElementsAre("/<-: package 0=1500000"));
}

TEST_F(ResctrlGroups, AmdWithSixteenCachesAndCountersThatAreNotAssigned) {
  Tree tree(fake_, 16);
  tree.add("mon_groups/vm");
  tree.set("mon_groups/vm", 15, "Unavailable", "Unavailable");
  tree.set("", 3, "12", "Unassigned");
  const auto all = texts();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(all[0], HasSubstr(" 3: /sys/fs/resctrl/mon_data/mon_L3_03/mbm_local_bytes: no counter has been "
                                "assigned to this group 4=0/0"));
  EXPECT_THAT(all[1],
              HasSubstr(" 14=0/0 15: /sys/fs/resctrl/mon_groups/vm/mon_data/mon_L3_15/mbm_total_bytes: the "
                        "processor has no counter for this group at present"));
}

TEST_F(ResctrlGroups, WithoutLocalTrafficAllIsLocal) {
  fake_.write("sys/fs/resctrl/mon_data/mon_L3_00/mbm_total_bytes", "42\n");
  EXPECT_THAT(texts(), ElementsAre("/<-: 0=42/42"));
}

TEST_F(ResctrlGroups, AGroupThatIsRenamedKeepsItsIdentityAndANewOneHasAnother) {
  Tree tree(fake_);
  tree.add("mon_groups/vm");
  const std::uint64_t first = (*read_groups(host_))[1].id;
  tree.rename("mon_groups/vm", "mon_groups/other");
  EXPECT_EQ((*read_groups(host_))[1].id, first);
  tree.add("mon_groups/vm");
  EXPECT_NE((*read_groups(host_))[2].id, first);
}

// Its traffic would be missing from that of all.
TEST_F(ResctrlGroups, OneThatExistsAndCannotBeReadIsAnError) {
  Tree tree(fake_);
  for (const std::string group : {"vm", "mon_groups/a"}) {
    tree.add(group);
    const std::string data = fake_.paths().sysfs + "/fs/resctrl/" + group + "/mon_data";
    std::filesystem::remove_all(data);
    fake_.write("sys/fs/resctrl/" + group + "/mon_data", "");
    EXPECT_THAT(texts(), ElementsAre("error: /sys/fs/resctrl/" + group + "/mon_data: Not a directory"));
    tree.remove(group);
    EXPECT_EQ(texts().size(), 1U) << "one that is gone is none";
  }
}

TEST_F(ResctrlGroups, AreBounded) {
  Tree tree(fake_);
  for (std::size_t i = 0; i < kMostGroups; ++i)
    std::filesystem::create_directories(fake_.paths().sysfs +
                                        fmt::format("/fs/resctrl/mon_groups/{}/mon_data", i));
  EXPECT_THAT(texts(), ElementsAre(HasSubstr("there are more than 1024 groups")));
}

TEST(ResctrlCache, IsTheNumberInTheNameOfTheDirectory) {
  EXPECT_EQ(parse_cache("mon_L3_00"), 0);
  EXPECT_EQ(parse_cache("mon_L3_131"), 131);
  for (const char* name :
       {"mon_L3_", "mon_L3_-1", "mon_L2_00", "mon_PERF_PKG_00", "mon_sub_L3_00", "mon_L3_0x1"})
    EXPECT_FALSE(parse_cache(name)) << name;
}

TEST(ResctrlPackage, IsTheNumberInTheNameOfTheDirectory) {
  EXPECT_EQ(parse_package("mon_PERF_PKG_00"), 0);
  EXPECT_EQ(parse_package("mon_PERF_PKG_11"), 11);
  for (const char* name : {"mon_PERF_PKG_", "mon_PERF_PKG_-1", "mon_L3_00", "mon_PERF_00", "PERF_PKG_00"})
    EXPECT_FALSE(parse_package(name)) << name;
}

}  // namespace
}  // namespace keplerd::resctrl
