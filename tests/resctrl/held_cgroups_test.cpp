// SPDX-License-Identifier: Apache-2.0
// A group holds a cgroup if the threads of both are the same.
#include "meters/resctrl/held_cgroups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meters/resctrl/threads.h"
#include "resctrl/tree.h"

namespace keplerd::resctrl {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class HeldCgroupsTest : public testing::Test {
 protected:
  HeldCgroupsTest() {
    cgroup("/a.service", {10, 11});
    cgroup("/b.service", {20});
    cgroup("/machine.slice", {});
    cgroup("/machine.slice/vm.scope", {});
    cgroup("/machine.slice/vm.scope/libvirt", {});
    cgroup("/machine.slice/vm.scope/libvirt/emulator", {30});
    cgroup("/machine.slice/vm.scope/libvirt/vcpu0", {31});
    cgroup("/machine.slice/other.scope", {40});
    tree_.add("mon_groups/m");
  }
  void cgroup(const std::string& path, const std::vector<int>& threads) {
    fake_.add_cgroup(path);
    for (const int thread : threads) add_thread(fake_, thread, path);
    fake_.write("cgroup" + path + "/cgroup.threads", Tree::lines(threads));
  }
  // "GROUP: CGROUP"
  std::vector<std::string> held() {
    const auto groups = read_groups(host_);
    std::vector<std::string> texts;
    for (const auto& [id, cgroup] : cgroups_.find(*groups)) {
      for (const Group& group : *groups)
        for (const char* path : {"a.service", "b.service", "machine.slice", "machine.slice/vm.scope",
                                 "machine.slice/vm.scope/libvirt", "machine.slice/vm.scope/libvirt/vcpu0",
                                 "machine.slice/other.scope"})
          if (group.id == id && *read_identity(*host_.cgroupfs(), path) == cgroup)
            texts.push_back(group.path + ": " + path);
    }
    return texts;
  }

  FakeHost fake_;
  HostRoot host_ = fake_.open();
  Tree tree_{fake_};
  HeldCgroups cgroups_{host_};
};

TEST_F(HeldCgroupsTest, WithAllItsThreadsAndNoOthers) {
  tree_.set_tasks("mon_groups/m", {10, 11});
  EXPECT_THAT(held(), ElementsAre("mon_groups/m: a.service"));
  tree_.set_tasks("mon_groups/m", {10});
  EXPECT_THAT(held(), IsEmpty()) << "not all";
  tree_.set_tasks("mon_groups/m", {10, 11, 20});
  EXPECT_THAT(held(), IsEmpty()) << "others";
  tree_.set_tasks("mon_groups/m", {});
  EXPECT_THAT(held(), IsEmpty());
}

TEST_F(HeldCgroupsTest, WithThoseBelowIt) {
  tree_.set_tasks("mon_groups/m", {30, 31});
  EXPECT_THAT(held(), ElementsAre("mon_groups/m: machine.slice/vm.scope"))
      << "all threads of the unit are in one cgroup below it";
  tree_.set_tasks("mon_groups/m", {30, 31, 40});
  EXPECT_THAT(held(), ElementsAre("mon_groups/m: machine.slice"));
  tree_.set_tasks("mon_groups/m", {31});
  EXPECT_THAT(held(), ElementsAre("mon_groups/m: machine.slice/vm.scope/libvirt/vcpu0"));
  cgroup("/machine.slice/vm.scope", {32});
  tree_.set_tasks("mon_groups/m", {30, 31});
  EXPECT_THAT(held(), ElementsAre("mon_groups/m: machine.slice/vm.scope/libvirt")) << "not all of the unit";
}

TEST_F(HeldCgroupsTest, AControlGroupHoldsWhatItsMonitoringGroupsLeave) {
  tree_.add("web");
  tree_.add("web/mon_groups/db");
  tree_.set_tasks("web", {10, 11, 20});
  EXPECT_THAT(held(), IsEmpty());
  tree_.set_tasks("web/mon_groups/db", {20});
  EXPECT_THAT(held(), testing::UnorderedElementsAre("web: a.service", "web/mon_groups/db: b.service"));
}

TEST_F(HeldCgroupsTest, AThreadThatEndedMeanwhileDoesNotMatter) {
  tree_.set_tasks("mon_groups/m", {9, 10, 11, 12});
  EXPECT_THAT(held(), ElementsAre("mon_groups/m: a.service")) << "in the group's list";
  tree_.set_tasks("mon_groups/m", {10, 11});
  fake_.write("cgroup/a.service/cgroup.threads", "10\n11\n12\n");
  EXPECT_THAT(held(), ElementsAre("mon_groups/m: a.service")) << "in the cgroup's";
}

TEST_F(HeldCgroupsTest, AGroupThatHasCpusHoldsNone) {
  tree_.set_tasks("mon_groups/m", {10, 11});
  fake_.write("sys/fs/resctrl/mon_groups/m/cpus_list", "\n");
  EXPECT_THAT(held(), ElementsAre("mon_groups/m: a.service"));
  fake_.write("sys/fs/resctrl/mon_groups/m/cpus_list", "4-7\n");
  EXPECT_THAT(held(), IsEmpty()) << "it counts for all others that run on them";
}

TEST_F(HeldCgroupsTest, AThreadThatHasEndedIsNoneThoughItIsStillListed) {
  tree_.set_tasks("mon_groups/m", {10, 11, 12});
  fake_.write("proc/12/stat", "12 (a) R) S 1 12 12 0\n");
  EXPECT_THAT(held(), IsEmpty());
  for (const std::string state : {"Z", "X"}) {
    fake_.write("proc/12/stat", "12 (a) R) " + state + " 1 12 12 0\n");
    EXPECT_THAT(held(), ElementsAre("mon_groups/m: a.service")) << state;
  }
}

TEST_F(HeldCgroupsTest, ACgroupWithTooManyInsideLeavesOthersTheirs) {
  cgroup("/machine.slice/many.scope", {60});
  for (int i = 0; i < 20'000; ++i)
    std::filesystem::create_directories(fake_.paths().cgroupfs.value() + "/machine.slice/many.scope/" +
                                        std::to_string(i));
  for (const char* const group : {"mon_groups/k", "mon_groups/n"}) tree_.add(group);
  tree_.set_tasks("mon_groups/k", {60});
  tree_.set_tasks("mon_groups/m", {10, 11});
  tree_.set_tasks("mon_groups/n", {20});
  EXPECT_THAT(held(), testing::UnorderedElementsAre("mon_groups/m: a.service", "mon_groups/n: b.service"));
}

TEST_F(HeldCgroupsTest, ACgroupOutsideTheHierarchyOrTheRootIsNoneThatCanBeHeld) {
  add_thread(fake_, 50, "/");
  add_thread(fake_, 51, "/");
  fake_.write("proc/51/cgroup", "0::/../secret\n");
  for (const int thread : {50, 51}) {
    tree_.set_tasks("mon_groups/m", {thread});
    EXPECT_THAT(held(), IsEmpty());
  }
}

TEST_F(HeldCgroupsTest, TheDefaultGroupIsNotLookedAt) {
  tree_.set_tasks("", {10, 11});
  EXPECT_THAT(held(), IsEmpty());
}

TEST(ResctrlThreads, AreNumbersOnLines) {
  EXPECT_THAT(parse_threads("7\n3\n7\n\nx\n-4\n0\n99999999999\n5"), ElementsAre(3, 5, 7));
  EXPECT_THAT(parse_threads(""), IsEmpty());
}

}  // namespace
}  // namespace keplerd::resctrl
