// SPDX-License-Identifier: Apache-2.0
// Which groups of this host's own cgroup2 are read, if others have used all the time. As only some of the
// files are held, no other can be read without descriptors.
#include <algorithm>
#include <array>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "host/descriptor_budget.h"
#include "support/no_descriptors.h"
#include "usage/cgroup_tree_kernel_test.h"
#include "usage/child.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

class CgroupOrderTest : public CgroupTreeKernelTest {
 protected:
  void TearDown() override { tree_.reset(); }

  // The first groups, in this order, are held: "s", which contains the others, and `held` of those.
  void make(const std::vector<std::string>& names, std::size_t held) {
    cgroup_->add("s");
    for (const std::string& name : names) cgroup_->add("s/" + name);
    budget_ = std::make_unique<DescriptorBudget>(1 + held);
    tree_ = std::make_unique<CgroupTree>(cgroup_->directory(), CgroupLimits{.descriptors = budget_.get()});
  }
  void settle() {
    for (int i = 0; i < 4; ++i) read();
  }
  void read_held_only() {
    const NoDescriptors none;
    read();
  }

  const GroupUsage* find(std::string_view path) const {
    const auto found = std::ranges::find(groups_, path, &GroupUsage::path);
    return found == groups_.end() ? nullptr : &*found;
  }
  std::optional<Nanoseconds> time(std::string_view path) const {
    const GroupUsage* group = find(path);
    if (group == nullptr || !group->before) return std::nullopt;
    return group->usage - *group->before;
  }

  std::unique_ptr<DescriptorBudget> budget_;  // outlives the tree
};

TEST_F(CgroupOrderTest, OthersAreNotReadWhileOneHasUsedAll) {
  make({"busy", "idle", "rest"}, 1);
  Child child;
  cgroup_->move(child.pid(), "s/busy");
  settle();
  child.burn(20ms);
  read();
  for (int i = 0; i < 3; ++i) {
    child.burn(20ms);
    read_held_only();
    EXPECT_GE(time("/s/busy"), 20ms);
    EXPECT_EQ(time("/s/idle"), 0ns);
    EXPECT_EQ(time("/s/rest"), 0ns);
  }
}

TEST_F(CgroupOrderTest, NorAreThoseInThem) {
  make({"busy", "idle", "idle/in"}, 1);
  Child child;
  cgroup_->move(child.pid(), "s/busy");
  settle();
  child.burn(20ms);
  read();
  child.burn(20ms);
  read_held_only();
  EXPECT_GE(time("/s/busy"), 20ms);
  EXPECT_EQ(time("/s/idle/in"), 0ns);
}

TEST_F(CgroupOrderTest, OneThatWakesHasItsTimeAtOnce) {
  make({"busy", "idle", "rest"}, 3);
  Child child, other;
  cgroup_->move(child.pid(), "s/busy");
  cgroup_->move(other.pid(), "s/rest");
  settle();
  child.burn(20ms);
  read();
  child.burn(20ms);
  other.burn(1ms);
  read();
  EXPECT_GE(time("/s/busy"), 20ms);
  EXPECT_GE(time("/s/rest"), 1ms);
  EXPECT_EQ(time("/s/idle"), 0ns);
}

TEST_F(CgroupOrderTest, AllAreReadIfSomethingWasUsedInTheGroupItself) {
  make({"busy", "idle"}, 1);
  Child child, own;
  cgroup_->move(child.pid(), "s/busy");
  settle();
  child.burn(20ms);
  read();
  cgroup_->move(own.pid(), "s");
  own.burn(5ms);
  child.burn(20ms);
  read_held_only();
  EXPECT_EQ(find("/s/idle"), nullptr);
}

// Those that run in turn are found by their pace.
TEST_F(CgroupOrderTest, TheOneWhoseTurnItIsIsReadFirst) {
  make({"a", "b", "c"}, 1);
  std::array<Child, 3> children;
  const std::array<std::string, 3> names{"a", "b", "c"};
  for (std::size_t i = 0; i < 3; ++i) cgroup_->move(children[i].pid(), "s/" + names[i]);
  settle();
  for (int round = 0; round < 4; ++round) {
    for (std::size_t i = 0; i < 3; ++i) {
      children[i].burn(5ms);
      round > 1 && i == 0 ? read_held_only() : read();
      EXPECT_GE(time("/s/" + names[i]), 5ms);
      EXPECT_TRUE(find("/s/" + names[(i + 1) % 3])) << round;
      EXPECT_TRUE(find("/s/" + names[(i + 2) % 3])) << round;
    }
  }
}

TEST_F(CgroupOrderTest, OneThatHasRunForTheFirstTimeIsExpectedAgain) {
  make({"a", "b"}, 1);
  Child child, other;
  cgroup_->move(child.pid(), "s/a");
  cgroup_->move(other.pid(), "s/b");
  settle();
  for (int i = 0; i < 3; ++i) {
    other.burn(5ms);
    read();
  }
  for (int i = 0; i < 20; ++i) read();
  child.burn(5ms);
  read();
  child.burn(5ms);
  read_held_only();
  EXPECT_GE(time("/s/a"), 5ms);
  EXPECT_EQ(time("/s/b"), 0ns);
}

TEST_F(CgroupOrderTest, EachIsReadNowAndThen) {
  const std::array<std::string, 5> idle{"i1", "i2", "i3", "i4", "i5"};
  make({"busy", idle[0], idle[1], idle[2], idle[3], idle[4]}, 1);
  Child child, own;
  cgroup_->move(child.pid(), "s/busy");
  cgroup_->move(own.pid(), "s");
  settle();
  child.burn(1ms);
  own.burn(1ms);
  read();  // all
  const auto is_there = [&](const std::string& name) { return find("/s/" + name) != nullptr; };
  for (int i = 0; i < 63; ++i) {
    child.burn(1ms);
    read_held_only();
    ASSERT_TRUE(std::ranges::all_of(idle, is_there)) << i;
  }
  child.burn(1ms);
  read_held_only();
  EXPECT_TRUE(std::ranges::none_of(idle, is_there));
}

TEST_F(CgroupOrderTest, NewGroupIsReadAtOnce) {
  make({"busy", "idle"}, 2);
  Child child, other;
  cgroup_->move(child.pid(), "s/busy");
  settle();
  cgroup_->add("s/new");
  cgroup_->move(other.pid(), "s/new");
  other.burn(2ms);
  child.burn(20ms);
  read();
  EXPECT_GE(time("/s/new"), 2ms);
}

TEST_F(CgroupOrderTest, NoTimeIsLostOrCountedTwice) {
  constexpr int kGroups = 12;
  std::vector<std::string> names;
  for (int i = 0; i < kGroups; ++i) names.push_back("g" + std::to_string(100 + i));
  make(names, kGroups);
  std::array<Child, kGroups> children;
  for (int i = 0; i < kGroups; ++i)
    cgroup_->move(children[static_cast<std::size_t>(i)].pid(), "s/" + names[static_cast<std::size_t>(i)]);
  settle();
  std::map<std::string, Nanoseconds, std::less<>> first, sum;
  for (const GroupUsage& group : groups_) first.emplace(group.path, group.usage);
  std::mt19937 random(7);
  for (int tick = 0; tick < 100; ++tick) {
    for (Child& child : children)
      if (random() % 4 == 0) child.burn(std::chrono::milliseconds(random() % 3));
    read();
    Nanoseconds in_groups{0};
    for (const GroupUsage& group : groups_) {
      sum[std::string(group.path)] += group.usage - *group.before;
      if (group.path != "/s") in_groups += group.usage - *group.before;
    }
    EXPECT_LE(std::chrono::abs(in_groups - *time("/s")), 2us * kGroups) << tick;
  }
  std::vector<GroupUsage> now;
  CgroupTree(cgroup_->directory()).read(now);
  for (const GroupUsage& group : now)
    EXPECT_LE(group.usage - first.find(group.path)->second - sum.find(group.path)->second, 1us * kGroups);
}

}  // namespace
}  // namespace keplerd
