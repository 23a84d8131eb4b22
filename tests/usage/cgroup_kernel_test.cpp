// SPDX-License-Identifier: Apache-2.0
// The tree of groups on this host's own cgroup2.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
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

std::set<std::string> paths_of(const std::vector<GroupUsage>& groups) {
  std::set<std::string> paths;
  for (const GroupUsage& group : groups) paths.emplace(group.path);
  return paths;
}

class CgroupKernelTest : public CgroupTreeKernelTest {
 protected:
  const GroupUsage& group(std::string_view path) const {
    static const GroupUsage none{};
    const auto found = std::ranges::find(groups_, path, &GroupUsage::path);
    EXPECT_NE(found, groups_.end()) << path;
    return found == groups_.end() ? none : *found;
  }
  Nanoseconds time(std::string_view path) const {
    const GroupUsage& found = group(path);
    return found.usage - found.before.value_or(found.usage);
  }

  using Paths = std::set<std::string>;
  Paths paths() const { return paths_of(groups_); }
};

TEST_F(CgroupKernelTest, FindsGroupsThatAppearAndDisappearBetweenReads) {
  cgroup_->add("a");
  read();
  EXPECT_EQ(paths(), Paths{"/a"});
  cgroup_->add("a/b");
  cgroup_->add("c");
  cgroup_->add("c/d");
  cgroup_->add("c/d/e");
  read();
  EXPECT_EQ(paths(), (Paths{"/a", "/a/b", "/c", "/c/d", "/c/d/e"}));
  cgroup_->remove("a/b");
  cgroup_->remove("c/d/e");
  cgroup_->add("brief");
  cgroup_->remove("brief");
  read();
  EXPECT_EQ(paths(), (Paths{"/a", "/c", "/c/d"}));
}

TEST_F(CgroupKernelTest, FindsAllThatWereThereBefore) {
  for (const char* name : {"a", "a/b", "a/b/c", "a/d", "e"}) cgroup_->add(name);
  read();
  EXPECT_EQ(paths(), (Paths{"/a", "/a/b", "/a/b/c", "/a/d", "/e"}));
}

TEST_F(CgroupKernelTest, TimeIsTheGroupsAndItsAncestors) {
  cgroup_->add("a");
  cgroup_->add("a/b");
  Child child;
  cgroup_->move(child.pid(), "a/b");
  read();
  child.burn(30ms);
  read();
  EXPECT_GE(time("/a/b"), 29ms);
  EXPECT_GE(time("/a"), time("/a/b") - 1ms);
  std::vector<std::int32_t> pids;
  tree_->read_pids(tree_->find("/a/b"), pids);
  EXPECT_EQ(pids, std::vector<std::int32_t>{child.pid()});
}

TEST_F(CgroupKernelTest, RebornUnderItsNameIsAnotherAndBeginsAtZero) {
  cgroup_->add("a");
  Child child;
  cgroup_->move(child.pid(), "a");
  child.burn(30ms);
  read();
  const auto first = group("/a").incarnation;
  cgroup_->move_out(child.pid());
  cgroup_->remove("a");
  cgroup_->add("a");
  read();
  EXPECT_NE(group("/a").incarnation, first);
  EXPECT_LT(time("/a"), 10ms);
  cgroup_->move(child.pid(), "a");
  child.burn(20ms);
  read();
  EXPECT_GE(time("/a"), 19ms);
}

TEST_F(CgroupKernelTest, WhatARemovedGroupUsedIsInItsParentAtOnce) {
  cgroup_->add("a");
  read();
  cgroup_->add("a/brief");
  Child child;
  cgroup_->move(child.pid(), "a/brief");
  child.burn(30ms);
  cgroup_->move_out(child.pid());
  cgroup_->remove("a/brief");
  read();
  EXPECT_EQ(paths(), Paths{"/a"});
  EXPECT_GE(time("/a"), 29ms);
}

TEST_F(CgroupKernelTest, ThreadedGroupsAreInsideTheirDomain) {
  cgroup_->add("vm");
  cgroup_->add("vm/vcpu0");
  read();
  EXPECT_EQ(paths(), (Paths{"/vm", "/vm/vcpu0"}));
  cgroup_->write("vm/vcpu0/cgroup.type", "threaded");  // like libvirt: created first, threaded afterwards
  cgroup_->add("vm/vcpu1");
  cgroup_->write("vm/vcpu1/cgroup.type", "threaded");
  Child child;
  cgroup_->move(child.pid(), "vm");
  cgroup_->write("vm/vcpu0/cgroup.threads", std::to_string(child.pid()));
  child.burn(20ms);
  read();
  EXPECT_EQ(paths(), Paths{"/vm"});
  EXPECT_GE(time("/vm"), 19ms);
  std::vector<std::int32_t> pids;
  tree_->read_pids(0, pids);
  EXPECT_EQ(pids, std::vector<std::int32_t>{child.pid()});
}

TEST_F(CgroupKernelTest, ThreadedGroupsThatWereThereBeforeAreInsideTheirDomain) {
  for (const char* name : {"vm", "vm/vcpu0", "other", "other/a"}) cgroup_->add(name);
  cgroup_->write("vm/vcpu0/cgroup.type", "threaded");
  read();
  EXPECT_EQ(paths(), (Paths{"/other", "/other/a", "/vm"}));
}

TEST_F(CgroupKernelTest, GroupThatIsMadeThreadedSoonAfterItCameIsFoundOutByTheType) {
  cgroup_->add("vm");
  cgroup_->add("vm/a");
  for (int i = 0; i < 5; ++i) read();
  cgroup_->add("vm/vcpu0");
  read();
  EXPECT_EQ(paths(), (Paths{"/vm", "/vm/a", "/vm/vcpu0"}));
  cgroup_->write("vm/vcpu0/cgroup.type", "threaded");
  read();
  EXPECT_EQ(paths(), (Paths{"/vm", "/vm/a"}));
}

// Long after its creation, only reading its cgroup.procs (EOPNOTSUPP) reveals it.
TEST_F(CgroupKernelTest, GroupThatIsMadeThreadedLateIsFoundOutByItsPids) {
  cgroup_->add("vm");
  cgroup_->add("vm/vcpu0");
  for (int i = 0; i < 5; ++i) read();
  cgroup_->write("vm/vcpu0/cgroup.type", "threaded");
  read();
  std::vector<std::int32_t> pids;
  tree_->read_pids(tree_->find("/vm/vcpu0"), pids);
  EXPECT_TRUE(pids.empty());
  read();
  EXPECT_EQ(paths(), Paths{"/vm"});
}

TEST_F(CgroupKernelTest, InvalidUtf8IsEscaped) {
  cgroup_->add("bad\xff\x1b[31m");
  read();
  EXPECT_EQ(paths(), Paths{"/bad\\xff\\x1b[31m"});
}

// More events than the kernel queues per instance: it reports an overflow (IN_Q_OVERFLOW).
TEST_F(CgroupKernelTest, LostEventsAreMadeUpForByLookingAgain) {
  int most = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> most;
  if (most <= 0 || most > 20'000) GTEST_SKIP() << "this host keeps " << most << " events";
  read();
  for (int i = 0; i < most / 2 + 10; ++i) {
    cgroup_->add("brief" + std::to_string(i % 2));
    cgroup_->remove("brief" + std::to_string(i % 2));
  }
  cgroup_->add("stays");
  cgroup_->add("stays/deep");
  read();
  EXPECT_EQ(paths(), (Paths{"/stays", "/stays/deep"}));
  cgroup_->add("stays/deep/later");
  read();
  EXPECT_EQ(paths(), (Paths{"/stays", "/stays/deep", "/stays/deep/later"}));
}

// inotify reports it after it was found by listing: if it were taken for new again, its time would be counted
// twice.
TEST_F(CgroupKernelTest, GroupThatComesWhileGroupsAreListedIsTheSameAfterwards) {
  constexpr int kGroups = 20;
  const auto name = [](int i) { return "g" + std::to_string(i); };
  for (int round = 0; round < 100; ++round) {
    CgroupTree tree(cgroup_->directory());
    std::atomic<bool> making = false;
    std::thread maker([&] {
      for (int i = 0; i < kGroups; ++i) {
        cgroup_->add(name(i));
        making = true;
      }
    });
    while (!making) {
    }
    tree.read(groups_);
    std::map<std::string, std::uint64_t> listed;
    for (const GroupUsage& known : groups_) listed.emplace(known.path, known.incarnation);
    maker.join();
    tree.read(groups_);
    EXPECT_EQ(groups_.size(), static_cast<std::size_t>(kGroups));
    for (const auto& [path, incarnation] : listed) ASSERT_EQ(group(path).incarnation, incarnation) << round;
    for (int i = 0; i < kGroups; ++i) cgroup_->remove(name(i));
  }
}

TEST_F(CgroupKernelTest, GroupsLeftOutForDepthDoNotHideNewOnes) {
  CgroupTree shallow(cgroup_->directory(), {.depth = 1});
  cgroup_->add("a");
  cgroup_->add("a/deep");
  shallow.read(groups_);
  EXPECT_EQ(shallow.left_out(), 1U);
  cgroup_->add("b");
  Child child;
  cgroup_->move(child.pid(), "b");
  child.burn(20ms);
  shallow.read(groups_);
  EXPECT_EQ(paths(), (Paths{"/a", "/b"}));
  EXPECT_GE(time("/b"), 19ms);  // created since, not left out before
  cgroup_->move_out(child.pid());
}

// In its own user namespace, a process may be limited to three watches.
int read_with_three_watches(const RealCgroup& cgroup) {
  if (::unshare(CLONE_NEWUSER) != 0) return 77;
  std::ofstream limit("/proc/sys/user/max_inotify_watches");
  limit << "3" << std::endl;
  if (!limit) return 77;
  CgroupTree tree(cgroup.directory());
  std::vector<GroupUsage> groups;
  const auto make = [&](const std::string& name) {
    return ::mkdirat(cgroup.directory(), name.c_str(), 0755);
  };
  for (int i = 0; i < 6; ++i) {
    if (make("g" + std::to_string(i)) != 0) return 77;
  }
  tree.read(groups);
  if (groups.size() != 6) return 1;
  for (int i = 0; i < 6; ++i) make("g" + std::to_string(i) + "/first");
  tree.read(groups);
  if (groups.size() != 12) return 2;
  for (int i = 0; i < 6; ++i) make("g" + std::to_string(i) + "/second");
  tree.read(groups);
  return groups.size() == 18 ? 0 : 3;
}

TEST_F(CgroupKernelTest, GroupsThatCannotBeWatchedAreLookedUpEachTime) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(read_with_three_watches(*cgroup_));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "the limit of watches cannot be lowered here";
  EXPECT_EQ(WEXITSTATUS(status), 0) << "read without what came below groups that are not watched";
}

// Short of descriptors, groups are left out and reported as such; afterwards they are back, and no time was
// counted twice.
TEST_F(CgroupKernelTest, WithoutDescriptorsKnownGroupsAreKept) {
  for (int i = 0; i < 10; ++i) cgroup_->add("g" + std::to_string(i));
  read();
  std::set<std::uint64_t> before;
  for (const GroupUsage& known : groups_) before.insert(known.incarnation);
  cgroup_->add("late");
  Child child;
  cgroup_->move(child.pid(), "late");
  child.burn(20ms);
  {
    const NoDescriptors none;
    for (int i = 0; i < 2; ++i) {
      read();
      EXPECT_EQ(tree_->left_out(), 1U);
      EXPECT_EQ(groups_.size(), 10U);
    }
  }
  read();
  EXPECT_EQ(groups_.size(), 11U);
  EXPECT_EQ(tree_->left_out(), 0U);
  EXPECT_EQ(time("/late"), 0ns);
  EXPECT_GE(group("/late").usage, 19ms);
  cgroup_->move_out(child.pid());
  for (const GroupUsage& known : groups_) before.erase(known.incarnation);
  EXPECT_TRUE(before.empty());
}

// As if everything were held, except for the descriptors.
TEST_F(CgroupKernelTest, WithoutAPlaceToHoldThemGroupsAreReadByTheirPaths) {
  DescriptorBudget budget(2);
  CgroupTree tree(cgroup_->directory(), {.descriptors = &budget});
  for (int i = 0; i < 6; ++i) {
    cgroup_->add("g" + std::to_string(i));
    cgroup_->add("g" + std::to_string(i) + "/in");
  }
  std::array<Child, 6> children;
  const auto descriptors = open_descriptors();
  tree.read(groups_);
  EXPECT_EQ(groups_.size(), 12U);
  EXPECT_EQ(open_descriptors(), descriptors + 2);

  const auto before = group("/g5/in").incarnation;
  for (std::size_t i = 0; i < children.size(); ++i) {
    cgroup_->move(children[i].pid(), "g" + std::to_string(i) + "/in");
    children[i].burn(20ms);
  }
  tree.read(groups_);
  for (std::size_t i = 0; i < children.size(); ++i) {
    const std::string path = "/g" + std::to_string(i) + "/in";
    EXPECT_GE(time(path), 19ms) << path;
    std::vector<std::int32_t> pids;
    tree.read_pids(static_cast<std::size_t>(&group(path) - groups_.data()), pids);
    EXPECT_EQ(pids, std::vector<std::int32_t>{children[i].pid()}) << path;
    cgroup_->move_out(children[i].pid());
  }
  cgroup_->remove("g5/in");
  cgroup_->add("g5/in");
  tree.read(groups_);
  EXPECT_NE(group("/g5/in").incarnation, before);
  EXPECT_EQ(time("/g5/in"), 0ns);
  EXPECT_EQ(open_descriptors(), descriptors + 2);
}

bool raise_descriptor_limit(rlim_t wanted) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(wanted, limit.rlim_max));
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= wanted;
}

TEST_F(CgroupKernelTest, FiveThousandGroupsComeAndGoWithoutALeak) {
  if (!raise_descriptor_limit(3000)) GTEST_SKIP() << "too few descriptors are allowed here";
  std::mt19937 random(17);
  Paths there;
  int made = 0;
  read();
  const auto descriptors = open_descriptors();
  while (made < 5000) {
    for (int i = 0; i < 300; ++i) {
      const bool nested = !there.empty() && random() % 3 == 0;
      const std::string parent =
          nested ? *std::next(there.begin(), random() % std::min<long>(9, ssize(there))) : "";
      const std::string path = parent + "/g" + std::to_string(random() % 1000);
      if (std::ranges::count(path, '/') > 6) continue;
      if (!there.contains(path)) {
        there.insert(path);
        cgroup_->add(path.substr(1));
        ++made;
      } else if (const auto next = there.upper_bound(path);
                 next == there.end() || !next->starts_with(path + "/")) {
        cgroup_->remove(path.substr(1));
        there.erase(path);
      }
    }
    for (auto path = there.rbegin(); path != there.rend() && ssize(there) > 1200;) {
      cgroup_->remove(path->substr(1));
      path = std::make_reverse_iterator(there.erase(std::next(path).base()));
    }
    read();
    ASSERT_EQ(paths(), there) << "after " << made;
  }
  for (auto path = there.rbegin(); path != there.rend(); ++path) cgroup_->remove(path->substr(1));
  read();
  EXPECT_TRUE(groups_.empty());
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_EQ(inotify_watches(), 1U);
}

}  // namespace
}  // namespace keplerd
