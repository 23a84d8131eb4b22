// SPDX-License-Identifier: Apache-2.0
// Which groups of this host's own cgroup2 are read, if others have used all the time. As only some of the
// files are held, no other can be read without descriptors.
#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <random>
#include <span>

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

  // "s", which contains the others, is held, and so are the first of those in the order of their names.
  void make(const std::vector<std::string>& names, std::size_t held) {
    cgroup_->add("s");
    for (const std::string& name : names) cgroup_->add("s/" + name);
    budget_ = std::make_unique<DescriptorBudget>(1 + held);
    tree_ = std::make_unique<CgroupTree>(cgroup_->directory(), CgroupLimits{.descriptors = budget_.get()});
  }
  void settle() {
    for (int i = 0; i < 4; ++i) read();
  }
  // The process is in "s/busy", and has run.
  void settle_busy(Child& child) {
    cgroup_->move(child.pid(), "s/busy");
    settle();
    child.burn(20ms);
    read();
  }
  void read_held_only() {
    const NoDescriptors none;
    read();
  }

  // How often `what` calls read(2) and similar functions; 0 if that is not known.
  template <class What>
  static std::uint64_t calls_to_read(const What& what) {
    const auto count = [] {
      std::ifstream file("/proc/self/io");
      std::string key;
      std::uint64_t value = 0;
      while (file >> key >> value && key != "syscr:") {
      }
      return key == "syscr:" ? value : 0;
    };
    const std::uint64_t before = count();
    what();
    return count() - before;
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
  settle_busy(child);
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
  settle_busy(child);
  child.burn(20ms);
  read_held_only();
  EXPECT_GE(time("/s/busy"), 20ms);
  EXPECT_EQ(time("/s/idle/in"), 0ns);
}

TEST_F(CgroupOrderTest, OneThatWakesHasItsTimeAtOnce) {
  make({"busy", "idle", "rest"}, 3);
  Child child, other;
  cgroup_->move(other.pid(), "s/rest");
  settle_busy(child);
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
  settle_busy(child);
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

// Only then can it be seen that a group has run in each read.
TEST_F(CgroupOrderTest, AllAreReadNowAndThenTwice) {
  const std::array<std::string, 5> idle{"i1", "i2", "i3", "i4", "i5"};
  make({"busy", idle[0], idle[1], idle[2], idle[3], idle[4]}, 6);
  if (calls_to_read([] {}) == 0) GTEST_SKIP() << "this kernel does not count reads (/proc/self/io)";
  Child child;
  cgroup_->move(child.pid(), "s/busy");
  settle();
  child.burn(1ms);
  read();
  std::vector<int> full;
  const auto read_one = [&] {
    child.burn(1ms);
    return calls_to_read([&] { read(); });
  };
  const std::uint64_t few = std::min({read_one(), read_one(), read_one()});
  // Whether the last ones are those that are due, two by two, and no others. If the child is preempted on its
  // way to sleep, its time makes another one necessary.
  const auto are_due = [&] {
    if (full.size() < 4) return false;
    const int first = full[full.size() - 4];
    return std::ranges::equal(std::span(full).last(4), std::array{first, first + 1, first + 65, first + 66});
  };
  for (int number = 9; number < 1000 && !are_due(); ++number) {
    const std::uint64_t calls = read_one();
    if (calls != few) {
      full.push_back(number);
      EXPECT_EQ(calls, few + idle.size());
    }
  }
  EXPECT_TRUE(are_due()) << testing::PrintToString(full);
}

TEST_F(CgroupOrderTest, WithANewGroupAllAreRead) {
  make({"busy", "idle"}, 1);
  Child child;
  settle_busy(child);
  cgroup_->add("s/new");
  tree_->take_events(CgroupQueue::kRoot);
  tree_->take_events(CgroupQueue::kUsers);
  child.burn(20ms);
  read_held_only();
  EXPECT_GE(time("/s/busy"), 20ms);
  EXPECT_EQ(find("/s/idle"), nullptr);
}

TEST_F(CgroupOrderTest, WhatIsUsedWhileASiblingEndsIsFound) {
  make({"busy", "end", "rest"}, 3);
  Child child, ending, other;
  cgroup_->move(ending.pid(), "s/end");
  cgroup_->move(other.pid(), "s/rest");
  settle_busy(child);
  ending.burn(5ms);
  ending.end();
  ending.reap();
  cgroup_->remove("s/end");
  other.burn(2ms);
  child.burn(20ms);
  read();
  EXPECT_GE(time("/s/rest"), 2ms);
  EXPECT_GE(time("/s/busy"), 20ms);
}

TEST_F(CgroupOrderTest, TimeOfEarlierRunsIsNotThatOfTheFirstReads) {
  make({"busy", "idle"}, 2);
  Child child, other;
  cgroup_->move(child.pid(), "s/busy");
  cgroup_->move(other.pid(), "s/idle");
  settle();
  other.burn(5ms);
  read();
  SavedUsage saved;
  saved.complete = true;
  saved.groups = tree_->all();
  tree_ = std::make_unique<CgroupTree>(cgroup_->directory(), CgroupLimits{.descriptors = budget_.get()});
  tree_->resume(saved);
  other.burn(2ms);
  for (int i = 0; i < 6; ++i) {
    child.burn(5ms);
    if (i == 4) other.burn(3ms);
    read();
    EXPECT_GE(time("/s/busy"), 5ms) << i;
    EXPECT_GE(time("/s/idle"), i == 0 ? 2ms : i == 4 ? 3ms : 0ms) << i;
    EXPECT_LT(time("/s/idle"), i == 0 || i == 4 ? 5ms : 1us) << i;
  }
}

// Two levels, of which many run a little.
TEST_F(CgroupOrderTest, NoTimeIsLostOrCountedTwice) {
  constexpr std::size_t kGroups = 24;
  constexpr std::size_t kParents = 4;
  const auto name = [](std::size_t i) {
    return "g" + std::to_string(1 + i % kParents) + "/" + std::to_string(i);
  };
  std::vector<std::string> names{"g1", "g2", "g3", "g4"};
  for (std::size_t i = 0; i < kGroups; ++i) names.push_back(name(i));
  make(names, names.size());
  std::array<Child, kGroups> children;
  for (std::size_t i = 0; i < kGroups; ++i) cgroup_->move(children[i].pid(), "s/" + name(i));
  settle();
  std::map<std::string, Nanoseconds, std::less<>> first, sum;
  for (const GroupUsage& group : groups_) first.emplace(group.path, group.usage);
  std::mt19937 random(7);
  for (int tick = 0; tick < 150; ++tick) {
    const unsigned few = tick % 3 == 0 ? 2 : 8;
    for (Child& child : children)
      if (random() % few == 0) child.burn(std::chrono::milliseconds(random() % 8 == 0 ? 1 : 0));
    read();
    for (const GroupUsage& group : groups_) sum[std::string(group.path)] += group.usage - *group.before;
  }
  std::vector<GroupUsage> now;
  CgroupTree another(cgroup_->directory());
  another.read(now);
  ASSERT_EQ(now.size(), 1U + kParents + kGroups);
  for (const GroupUsage& group : now) {
    const Nanoseconds used = group.usage - first.find(group.path)->second;
    EXPECT_LE(std::chrono::abs(used - sum.find(group.path)->second), 40us) << group.path;
  }
}

}  // namespace
}  // namespace keplerd
