// SPDX-License-Identifier: Apache-2.0
// Groups that end between two reads of the tree, on this host's own cgroup2.
#include <algorithm>
#include <array>
#include <fstream>

#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/no_descriptors.h"
#include "usage/cgroup_tree.h"
#include "usage/cgroup_tree_kernel_test.h"
#include "usage/child.h"
#include "usage/real_cgroup.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

class CgroupEndsKernelTest : public CgroupTreeKernelTest {
 protected:
  // Takes events until there are none; the kernel may delay them by 10 ms (cgroup_file_notify).
  void take_events() {
    std::array<pollfd, 2> waiting{};
    for (const CgroupQueue queue : kCgroupQueues) {
      waiting[static_cast<std::size_t>(queue)] = {
          .fd = tree_->event_descriptor(queue), .events = POLLIN, .revents = 0};
    }
    while (::poll(waiting.data(), waiting.size(), 30) > 0)
      for (const CgroupQueue queue : kCgroupQueues) tree_->take_events(queue);
  }

  // A process runs in the group, leaves it, and the group is removed.
  void run_in(const std::string& name, std::chrono::milliseconds time) {
    Child child;
    cgroup_->move(child.pid(), name);
    child.burn(time);
    take_events();
    cgroup_->move_out(child.pid());
    take_events();
    cgroup_->remove(name);
    take_events();
  }

  Nanoseconds time(std::string_view path) const {
    const auto group = std::ranges::find(groups_, path, &GroupUsage::path);
    if (group == groups_.end() || !group->before) return -1ns;
    return group->usage - *group->before;
  }
};

TEST_F(CgroupEndsKernelTest, WhatAShortGroupUsedIsItsOwn) {
  cgroup_->add("slice");
  read();
  cgroup_->add("slice/brief");
  take_events();
  run_in("slice/brief", 30ms);
  read();
  EXPECT_GE(time("/slice/brief"), 29ms);
  EXPECT_GE(time("/slice"), time("/slice/brief"));
  EXPECT_EQ(tree_->missed_ends(), 0U);
  read();
  EXPECT_EQ(groups_.size(), 1U);
  EXPECT_EQ(time("/slice"), 0ns);
}

TEST_F(CgroupEndsKernelTest, GroupThatIsMadeAgainAndAgainKeepsItsTime) {
  cgroup_->add("slice");
  read();
  for (int i = 0; i < 5; ++i) {
    cgroup_->add("slice/again");
    take_events();
    run_in("slice/again", 20ms);
  }
  cgroup_->add("slice/again");
  read();
  EXPECT_GE(time("/slice/again"), 5 * 19ms);
  EXPECT_GE(time("/slice"), time("/slice/again"));
  EXPECT_EQ(tree_->missed_ends(), 0U);
}

TEST_F(CgroupEndsKernelTest, RemovedBeforeItWasReadStaysInItsParentAndIsCounted) {
  cgroup_->add("slice");
  cgroup_->add("slice/brief");
  read();
  Child child;
  cgroup_->move(child.pid(), "slice/brief");
  take_events();
  child.burn(30ms);
  cgroup_->move_out(child.pid());
  cgroup_->remove("slice/brief");
  read();
  EXPECT_EQ(groups_.size(), 1U);
  EXPECT_GE(time("/slice"), 29ms);
  EXPECT_EQ(tree_->missed_ends(), 1U);
}

TEST_F(CgroupEndsKernelTest, GroupOfWhichNothingCanBeOpenedIsNotTakenForEmpty) {
  cgroup_->add("slice");
  cgroup_->add("slice/brief");
  read();
  Child child;
  take_events();  // UBSan's first look at this type needs descriptors
  cgroup_->move(child.pid(), "slice/brief");
  {
    const NoDescriptors none;
    take_events();
  }
  EXPECT_FALSE(tree_->is_empty(tree_->find("/slice/brief")));
}

TEST_F(CgroupEndsKernelTest, GroupsThatEndLeaveNoWatchesAndDescriptors) {
  read();
  const auto descriptors = open_descriptors();
  for (int i = 0; i < 5; ++i) {
    const std::string name = "g" + std::to_string(i);
    cgroup_->add(name);
    cgroup_->add(name + "/in");
    take_events();
    run_in(name + "/in", 1ms);
    cgroup_->remove(name);
  }
  read();
  read();
  EXPECT_TRUE(groups_.empty());
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_EQ(inotify_watches(), 1U);
}

// In its own user namespace, a process may be limited to as many watches as there are groups: those of ends
// are left out.
int count_with_watches(const RealCgroup& cgroup, int watches) {
  if (::unshare(CLONE_NEWUSER) != 0) return 77;
  std::ofstream limit("/proc/sys/user/max_inotify_watches");
  limit << watches << std::endl;
  if (!limit) return 77;
  CgroupTree tree(cgroup.directory());
  std::vector<GroupUsage> groups;
  for (int i = 0; i < 6; ++i) ::mkdirat(cgroup.directory(), ("g" + std::to_string(i)).c_str(), 0755);
  tree.read(groups);
  if (groups.size() != 6) return 1;
  return tree.misses_ends() ? 0 : 2;
}

TEST_F(CgroupEndsKernelTest, WithoutWatchesGroupsAreKnownAndThatIsReported) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(count_with_watches(*cgroup_, 4));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "the limit of watches cannot be lowered here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace keplerd
