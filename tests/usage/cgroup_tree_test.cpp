// SPDX-License-Identifier: Apache-2.0
// The tree of groups on written trees. Behaviour specific to the kernel is tested in cgroup_kernel_test.cpp.
#include "usage/cgroup_tree.h"

#include <algorithm>
#include <random>
#include <set>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/fake_host.h"
#include "usage/real_cgroup.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

class CgroupTreeTest : public testing::Test {
 protected:
  void read() { tree_.read(groups_); }

  const GroupUsage* find(std::string_view path) const {
    const auto group = std::ranges::find(groups_, path, &GroupUsage::path);
    return group == groups_.end() ? nullptr : &*group;
  }

  // Its time in the last window.
  Nanoseconds time(std::string_view path) const {
    const GroupUsage* group = find(path);
    if (group == nullptr || !group->before) return -1ns;
    return group->usage - *group->before;
  }

  std::vector<std::string> paths() const {
    std::vector<std::string> paths;
    for (const GroupUsage& group : groups_) paths.emplace_back(group.path);
    return paths;
  }

  FakeHost fake_;
  HostRoot host_ = fake_.open();
  CgroupTree tree_{*host_.cgroupfs()};
  std::vector<GroupUsage> groups_;
};

using Paths = std::vector<std::string>;

TEST_F(CgroupTreeTest, ListsParentsBeforeChildrenWithoutTheRoot) {
  fake_.add_cgroup("/system.slice/cron.service", 30);
  fake_.set_cgroup_usage("/system.slice", 50);
  fake_.add_cgroup("/init.scope", 7);
  read();
  EXPECT_EQ(paths(), (Paths{"/init.scope", "/system.slice", "/system.slice/cron.service"}));
  EXPECT_EQ(groups_[0].parent, kNoGroup);
  EXPECT_EQ(groups_[1].parent, kNoGroup);
  EXPECT_EQ(groups_[2].parent, 1U);
  EXPECT_EQ(groups_[2].usage, 30us);
}

TEST_F(CgroupTreeTest, FirstReadHasNoTimeBefore) {
  fake_.add_cgroup("/a", 30);
  read();
  EXPECT_FALSE(find("/a")->before);
  fake_.set_cgroup_usage("/a", 42);
  read();
  EXPECT_EQ(time("/a"), 12us);
}

TEST_F(CgroupTreeTest, GroupBornSinceHasUsedAllItsTimeSince) {
  read();
  fake_.add_cgroup("/a", 30);
  read();
  EXPECT_EQ(time("/a"), 30us);
  fake_.set_cgroup_usage("/a", 31);
  read();
  EXPECT_EQ(time("/a"), 1us);
}

TEST_F(CgroupTreeTest, GroupRebornUnderItsNameIsAnother) {
  fake_.add_cgroup("/a/b", 30);
  read();
  const auto first = *find("/a/b");
  fake_.remove_cgroup("/a/b");
  fake_.add_cgroup("/a/b", 40);
  read();
  EXPECT_NE(find("/a/b")->incarnation, first.incarnation);
  EXPECT_EQ(time("/a/b"), 40us);
  fake_.remove_cgroup("/a");
  fake_.add_cgroup("/a/b", 50);
  read();
  EXPECT_EQ(time("/a/b"), 50us);
}

TEST_F(CgroupTreeTest, IncarnationsAreNeverUsedAgain) {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 20; ++i) {
    fake_.add_cgroup("/a/b");
    read();
    for (const GroupUsage& group : groups_) EXPECT_TRUE(seen.insert(group.incarnation).second);
    fake_.remove_cgroup("/a");
  }
}

TEST_F(CgroupTreeTest, GroupThatWentBackIsTakenForAnother) {
  fake_.add_cgroup("/a", 30);
  read();
  const auto first = find("/a")->incarnation;
  fake_.set_cgroup_usage("/a", 4);
  read();
  EXPECT_NE(find("/a")->incarnation, first);
  EXPECT_EQ(time("/a"), 4us);
}

TEST_F(CgroupTreeTest, GroupThatEndsIsNotListed) {
  fake_.add_cgroup("/a/b");
  read();
  fake_.remove_cgroup("/a/b");
  read();
  EXPECT_EQ(paths(), Paths{"/a"});
}

TEST_F(CgroupTreeTest, ThreadedGroupsAreInsideTheirDomain) {
  fake_.add_cgroup("/vm/vcpu0", 20);
  fake_.set_cgroup_type("/vm/vcpu0", "threaded");
  fake_.add_cgroup("/vm/emulator");
  read();
  EXPECT_EQ(paths(), (Paths{"/vm", "/vm/emulator"}));
  fake_.set_cgroup_type("/vm/emulator", "threaded");  // created first, threaded afterwards
  read();
  EXPECT_EQ(paths(), Paths{"/vm"});
  EXPECT_EQ(tree_.find("/vm/emulator"), 0U);
}

TEST_F(CgroupTreeTest, UnreadableGroupIsLeftOutWithAllBelowAndCostsOthersNothing) {
  fake_.add_cgroup("/a/b", 30);
  fake_.add_cgroup("/c", 5);
  read();
  fake_.break_file("cgroup/a/cpu.stat");
  fake_.set_cgroup_usage("/c", 6);
  read();
  EXPECT_EQ(paths(), Paths{"/c"});
  EXPECT_EQ(time("/c"), 1us);
  fake_.write("cgroup/c/cpu.stat", "garbage\n");
  read();
  EXPECT_EQ(paths(), Paths{});
}

// Its time in between is in its parent's own account already: reported again, it would count twice.
TEST_F(CgroupTreeTest, GroupThatCouldNotBeReadHasNoTimeWhenItReturns) {
  fake_.add_cgroup("/a/b", 30);
  fake_.add_cgroup("/d", 5);
  read();
  const auto before = find("/a/b")->incarnation;
  fake_.break_file("cgroup/a/cpu.stat");
  fake_.set_cgroup_usage("/a/b", 130);
  read();
  fake_.set_cgroup_usage("/a", 140);
  fake_.set_cgroup_usage("/a/b", 139);
  read();
  EXPECT_EQ(time("/a"), 0us);
  EXPECT_EQ(time("/a/b"), 0us);
  EXPECT_EQ(find("/a/b")->incarnation, before);
  fake_.set_cgroup_usage("/a/b", 141);
  read();
  EXPECT_EQ(time("/a/b"), 2us);
}

TEST_F(CgroupTreeTest, GroupThatCouldNotBeReadAtFirstHasNoTimeWhenItComes) {
  fake_.add_cgroup("/a", 30);
  fake_.break_file("cgroup/a/cpu.stat");
  read();
  fake_.set_cgroup_usage("/a", 3'000'000);
  read();
  EXPECT_EQ(time("/a"), 0us);
}

TEST_F(CgroupTreeTest, AnyNameIsHandledAndEscaped) {
  fake_.add_cgroup("/two\nlines", 1);
  fake_.add_cgroup("/bad\xff utf8", 2);
  fake_.add_cgroup("/machine-qemu\\x2d1.scope", 3);
  read();
  EXPECT_EQ(paths(), (Paths{"/bad\\xff utf8", "/machine-qemu\\x2d1.scope", "/two\\x0alines"}));
  EXPECT_EQ(tree_.find("/bad\xff utf8"), 0U);  // raw, as in /proc/PID/cgroup
}

TEST_F(CgroupTreeTest, FindsTheNearestGroupAtOrAboveAPath) {
  fake_.add_cgroup("/a/b");
  read();
  EXPECT_EQ(tree_.find("/"), kNoGroup);
  EXPECT_EQ(tree_.find(""), kNoGroup);
  EXPECT_EQ(tree_.find("/a"), 0U);
  EXPECT_EQ(tree_.find("/a/b"), 1U);
  EXPECT_EQ(tree_.find("/a/b/"), 1U);
  EXPECT_EQ(tree_.find("/a/b/c/d"), 1U);
  EXPECT_EQ(tree_.find("/a/x"), 0U);
  EXPECT_EQ(tree_.find("/x/a/b"), kNoGroup);
  EXPECT_EQ(tree_.find("/../a"), kNoGroup);  // outside this namespace
}

TEST_F(CgroupTreeTest, ReadsThePidsOfAGroup) {
  fake_.add_cgroup("/a");
  read();
  std::vector<std::int32_t> pids;
  fake_.set_cgroup_procs("/a", {7, 0, 9});  // 0: in another pid namespace
  tree_.read_pids(0, pids);
  EXPECT_EQ(pids, (std::vector<std::int32_t>{7, 9}));
  fake_.set_cgroup_procs("/", {1, 2});
  tree_.read_pids(kNoGroup, pids);
  EXPECT_EQ(pids, (std::vector<std::int32_t>{1, 2}));
  fake_.remove_cgroup("/a");
  tree_.read_pids(0, pids);
  EXPECT_TRUE(pids.empty());
}

TEST_F(CgroupTreeTest, WithoutARootThereIsNothing) {
  CgroupTree tree(-1);
  tree.read(groups_);
  tree.read(groups_);
  EXPECT_TRUE(groups_.empty());
}

TEST_F(CgroupTreeTest, NestingBeyondTheLimitStaysInItsParent) {
  CgroupTree tree(*host_.cgroupfs(), {.depth = 3});
  fake_.add_cgroup("/1/2/3/4/5");
  tree.read(groups_);
  EXPECT_EQ(paths(), (Paths{"/1", "/1/2", "/1/2/3"}));
  EXPECT_EQ(tree.left_out(), 1U);
  EXPECT_EQ(tree.find("/1/2/3/4/5"), 2U);
}

TEST_F(CgroupTreeTest, DeepestTreeIsRead) {
  std::string path;
  for (int i = 0; i < 150; ++i) path += "/d";
  fake_.add_cgroup(path);
  read();
  EXPECT_EQ(groups_.size(), 100U);
  EXPECT_EQ(tree_.left_out(), 1U);
}

TEST_F(CgroupTreeTest, GroupsBeyondTheLimitAreLeftOutUntilThereIsRoom) {
  CgroupTree tree(*host_.cgroupfs(), {.groups = 3});
  for (const char* path : {"/a", "/b", "/c", "/d", "/e"}) fake_.add_cgroup(path, 100);
  tree.read(groups_);
  EXPECT_EQ(groups_.size(), 3U);
  EXPECT_EQ(tree.left_out(), 2U);
  const Paths before = paths();
  const std::string taken = before.front();
  fake_.remove_cgroup(taken);
  tree.read(groups_);
  EXPECT_EQ(groups_.size(), 3U);
  EXPECT_EQ(tree.left_out(), 1U);
  for (const std::string& path : paths()) {
    if (!std::ranges::count(before, path)) {
      EXPECT_EQ(time(path), 0us);  // it had run before, in its parent's account
    }
  }
}

TEST_F(CgroupTreeTest, GroupsNearTheRootComeFirst) {
  CgroupTree tree(*host_.cgroupfs(), {.groups = 4});
  for (const char* top : {"/a", "/b", "/c"}) {
    for (int i = 0; i < 9; ++i) fake_.add_cgroup(top + ("/" + std::to_string(i)));
  }
  tree.read(groups_);
  EXPECT_EQ(groups_.size(), 4U);
  for (const char* top : {"/a", "/b", "/c"}) EXPECT_TRUE(std::ranges::count(paths(), top)) << top;
  EXPECT_EQ(tree.left_out(), 26U);
}

TEST_F(CgroupTreeTest, WhatNoPathReachesStaysInItsParent) {
  CgroupTree tree(*host_.cgroupfs());
  // Longer than a path may be: created step by step.
  UniqueFd at(::open(fake_.paths().cgroupfs->c_str(), O_PATH));
  for (int i = 0; i < 18; ++i) {
    const std::string name(250, 'n');
    ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0755), 0);
    at.reset(::openat(at.get(), name.c_str(), O_PATH));
    const UniqueFd stat(::openat(at.get(), "cpu.stat", O_CREAT | O_WRONLY, 0644));
    ASSERT_EQ(::write(stat.get(), "usage_usec 1\n", 13), 13);
  }
  tree.read(groups_);
  EXPECT_EQ(groups_.size(), 15U);
  EXPECT_EQ(tree.left_out(), 1U);
}

TEST_F(CgroupTreeTest, RandomChurnIsFollowedWithoutALeak) {
  std::mt19937 random(5);
  std::set<std::string> there;
  read();
  const auto descriptors = open_descriptors();
  for (int round = 0; round < 60; ++round) {
    for (int i = 0; i < 12; ++i) {
      const std::string top = "/g" + std::to_string(random() % 12);
      const std::string path = random() % 2 == 0 ? top : top + "/h" + std::to_string(random() % 4);
      if (there.contains(path)) {
        fake_.remove_cgroup(path);
        std::erase_if(there, [&](const auto& p) { return p == path || p.starts_with(path + "/"); });
      } else {
        fake_.add_cgroup(path);
        there.insert({top, path});
      }
    }
    read();
    const Paths reported = paths();
    ASSERT_EQ(std::set<std::string>(reported.begin(), reported.end()), there) << "round " << round;
  }
  for (const std::string& path : std::set<std::string>(there)) {
    if (path.rfind('/') == 0) fake_.remove_cgroup(path);
  }
  read();
  EXPECT_TRUE(groups_.empty());
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_EQ(inotify_watches(), 1U);  // the root's
}

}  // namespace
}  // namespace keplerd
