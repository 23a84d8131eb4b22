// SPDX-License-Identifier: Apache-2.0
// Groups that end between two reads of the tree, on written trees.
#include <algorithm>

#include <gtest/gtest.h>

#include "support/fake_host.h"
#include "usage/cgroup_tree.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

class CgroupEndsTest : public testing::Test {
 protected:
  void read() { tree_.read(groups_); }

  void take_events() {
    for (const CgroupQueue queue : kCgroupQueues) tree_.take_events(queue);
  }

  // Its last process ends, when it has used this much; and it is removed after that was noticed.
  void end(const std::string& path, std::int64_t usage_usec) {
    fake_.set_cgroup_usage(path, usage_usec);
    fake_.set_cgroup_populated(path, false);
    take_events();
    fake_.remove_cgroup(path);
    take_events();
  }

  const GroupUsage* find(std::string_view path) const {
    const auto group = std::ranges::find(groups_, path, &GroupUsage::path);
    return group == groups_.end() ? nullptr : &*group;
  }

  // Its time in the last window; -1 if it was not in the read.
  Nanoseconds time(std::string_view path) const {
    const GroupUsage* group = find(path);
    return group == nullptr || !group->before ? -1ns : group->usage - *group->before;
  }

  FakeHost fake_;
  HostRoot host_ = fake_.open();
  CgroupTree tree_{*host_.cgroupfs(), {.ended = 3}};
  std::vector<GroupUsage> groups_;
};

TEST_F(CgroupEndsTest, GroupThatEndedIsInOneMoreRead) {
  fake_.add_cgroup("/a", 30);
  fake_.add_cgroup("/b", 1);
  read();
  const auto incarnation = find("/a")->incarnation;
  end("/a", 42);
  read();
  ASSERT_EQ(time("/a"), 12us);
  EXPECT_EQ(find("/a")->incarnation, incarnation);
  EXPECT_EQ(tree_.find("/a"), kNoGroup);
  read();
  EXPECT_EQ(find("/a"), nullptr);
  EXPECT_EQ(tree_.missed_ends(), 0U);
}

TEST_F(CgroupEndsTest, GroupThatWasNeverInAReadIsInOne) {
  read();
  fake_.add_cgroup("/a", 5);
  take_events();
  end("/a", 42);
  read();
  EXPECT_EQ(time("/a"), 42us);
  EXPECT_EQ(tree_.missed_ends(), 0U);
}

TEST_F(CgroupEndsTest, GroupOfTheSameNameHasTheTimeOfThoseBefore) {
  fake_.add_cgroup("/a", 100);
  read();
  end("/a", 107);
  fake_.add_cgroup("/a", 0);
  take_events();
  end("/a", 20);
  fake_.add_cgroup("/a", 3);
  read();
  EXPECT_EQ(time("/a"), 30us);
  EXPECT_EQ(groups_.size(), 1U);
  fake_.set_cgroup_usage("/a", 4);
  read();
  EXPECT_EQ(time("/a"), 1us);
  EXPECT_EQ(tree_.missed_ends(), 0U);
}

TEST_F(CgroupEndsTest, GroupIsNoLessThanThoseInsideIt) {
  fake_.add_cgroup("/a", 100);
  fake_.add_cgroup("/a/in", 50);
  read();
  fake_.set_cgroup_usage("/a/in", 80);
  fake_.set_cgroup_populated("/a/in", false);
  take_events();  // nothing is known of "/a" itself
  fake_.remove_cgroup("/a");
  read();
  EXPECT_EQ(time("/a"), 30us);
  EXPECT_EQ(time("/a/in"), 30us);
  EXPECT_EQ(groups_[1].parent, 0U);
  EXPECT_EQ(tree_.missed_ends(), 1U);
  read();
  EXPECT_TRUE(groups_.empty());
}

TEST_F(CgroupEndsTest, GroupThatIsInUseAgainIsReadAgain) {
  fake_.add_cgroup("/a", 0);
  read();
  fake_.set_cgroup_usage("/a", 10);
  fake_.set_cgroup_populated("/a", false);
  take_events();
  fake_.set_cgroup_populated("/a", true);
  take_events();
  end("/a", 25);
  read();
  EXPECT_EQ(time("/a"), 25us);
  EXPECT_EQ(tree_.missed_ends(), 0U);
}

TEST_F(CgroupEndsTest, ThreadedGroupStaysInsideItsDomain) {
  fake_.add_cgroup("/vm");
  read();
  fake_.add_cgroup("/vm/vcpu0");
  take_events();
  fake_.write("cgroup/vm/vcpu0/cgroup.type",
              "threaded\n");  // like libvirt: created first, threaded afterwards
  end("/vm/vcpu0", 10);
  read();
  ASSERT_EQ(groups_.size(), 1U);
  EXPECT_EQ(groups_[0].path, "/vm");
  EXPECT_EQ(tree_.missed_ends(), 0U);
}

TEST_F(CgroupEndsTest, RemovedBeforeItWasReadIsCounted) {
  fake_.add_cgroup("/known", 10);
  read();
  fake_.remove_cgroup("/known");
  fake_.add_cgroup("/never-seen", 10);
  fake_.remove_cgroup("/never-seen");
  read();
  EXPECT_TRUE(groups_.empty());
  EXPECT_EQ(tree_.missed_ends(), 2U);
}

TEST_F(CgroupEndsTest, WithoutProcessesNothingIsMissed) {
  fake_.add_cgroup("/a", 10);
  fake_.set_cgroup_populated("/a", false);
  read();
  fake_.remove_cgroup("/a");
  read();
  EXPECT_TRUE(groups_.empty());
  EXPECT_EQ(tree_.missed_ends(), 0U);
}

TEST_F(CgroupEndsTest, GroupIsEmptyWhereItOrOneAboveItHasNoProcess) {
  fake_.add_cgroup("/a");
  fake_.add_cgroup("/a/in");
  fake_.add_cgroup("/b");
  fake_.set_cgroup_populated("/a", false);
  read();
  EXPECT_TRUE(tree_.is_empty(tree_.find("/a")));
  EXPECT_TRUE(tree_.is_empty(tree_.find("/a/in")));
  EXPECT_FALSE(tree_.is_empty(tree_.find("/b")));
}

TEST_F(CgroupEndsTest, NoMoreThanTheLimitAreInOneRead) {
  read();
  for (int i = 0; i < 5; ++i) {
    const std::string path = "/g" + std::to_string(i);
    fake_.add_cgroup(path);
    take_events();
    end(path, 10);
  }
  read();
  EXPECT_EQ(groups_.size(), 3U);
  EXPECT_EQ(tree_.missed_ends(), 2U);
  fake_.add_cgroup("/later");
  take_events();
  end("/later", 10);
  read();
  EXPECT_EQ(groups_.size(), 1U);
}

TEST_F(CgroupEndsTest, NoMoreThanTheLimitAreWatched) {
  CgroupTree tree(*host_.cgroupfs(), {.watched_ends = 1});
  fake_.add_cgroup("/a");
  fake_.add_cgroup("/b");
  tree.read(groups_);
  for (const char* path : {"/a", "/b"}) {
    fake_.set_cgroup_usage(path, 10);
    fake_.set_cgroup_populated(path, false);
  }
  for (const CgroupQueue queue : kCgroupQueues) tree.take_events(queue);
  for (const char* path : {"/a", "/b"}) fake_.remove_cgroup(path);
  tree.read(groups_);
  EXPECT_EQ(groups_.size(), 1U);
  EXPECT_EQ(tree.missed_ends(), 1U);
}

}  // namespace
}  // namespace keplerd
