// SPDX-License-Identifier: Apache-2.0
// This host's own processes, in groups of its own cgroup2.
#include <algorithm>
#include <array>

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/no_descriptors.h"
#include "usage/child.h"
#include "usage/process_clock.h"
#include "usage/processes_kernel_fixture.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

TEST(ProcessClock, IsTheProcessesOwn) {
  Child child;
  const auto before = read_process_clock(child.pid());
  child.burn(20ms);
  const auto after = read_process_clock(child.pid());
  ASSERT_TRUE(before && after);
  EXPECT_GE(*after - *before, 20ms);
  child.burn_in_child(30ms);
  EXPECT_LT(*read_process_clock(child.pid()) - *after, 30ms);  // without reaped children's
}

TEST(ProcessClock, OfAZombieIsItsLastAndOfOneReapedIsNone) {
  Child child;
  const pid_t pid = child.pid();
  child.burn(20ms);
  child.end();
  EXPECT_GE(read_process_clock(pid).value_or(0ns), 20ms);
  child.reap();
  EXPECT_FALSE(read_process_clock(pid));
}

class ProcessKernelTest : public KernelProcessesTest {
 protected:
  Nanoseconds time(std::int32_t pid) const {
    const ProcessUsage* const found = find(pid);
    if (!found || !found->before) return -1ns;
    return found->usage - found->before->usage;
  }
  std::string_view group_of(std::int32_t pid) const {
    const ProcessUsage* const found = find(pid);
    if (!found) return "not found";
    return found->group == kNoGroup ? "/" : sample_.groups[found->group].path;
  }
  bool has_ended(std::int32_t pid) const {
    return std::ranges::any_of(sample_.ended, [&](const ProcessId& id) { return id.pid == pid; });
  }
};

TEST_F(ProcessKernelTest, TimeIsOfTheCpuClock) {
  Child child;
  cgroup_->move(child.pid(), "a");
  read();
  EXPECT_EQ(group_of(child.pid()), "/a");
  child.burn(20ms);
  read();
  EXPECT_GE(time(child.pid()), 20ms);
  EXPECT_EQ(find(child.pid())->usage, read_process_clock(child.pid()));
}

TEST_F(ProcessKernelTest, OnlyGroupsThatMovedAreLookedInto) {
  Child busy;
  Child quiet;
  cgroup_->move(busy.pid(), "a");
  cgroup_->move(quiet.pid(), "b");
  read();  // the first read examines everything
  EXPECT_EQ(group_of(quiet.pid()), "/b");
  for (int i = 0; i < 3; ++i) {
    busy.burn(5ms);
    read();
    EXPECT_GE(time(busy.pid()), 5ms);
    EXPECT_EQ(group_of(quiet.pid()), "not found");
    EXPECT_FALSE(has_ended(quiet.pid()));
  }
  quiet.burn(10ms);
  read();
  EXPECT_GE(time(quiet.pid()), 10ms);  // its clock stood still in between, so nothing else is in it
}

TEST_F(ProcessKernelTest, OneThatRestsHoldsNoDescriptor) {
  Child child;
  cgroup_->move(child.pid(), "a");
  read();
  EXPECT_EQ(open_descriptors_of(child.pid()), 0U);
  child.burn(5ms);
  read(1ms);
  EXPECT_EQ(open_descriptors_of(child.pid()), 1U);
  for (int i = 0; i < 2; ++i) read(10s);
  EXPECT_EQ(open_descriptors_of(child.pid()), 0U);
}

TEST_F(ProcessKernelTest, OneThatExitsHasEnded) {
  Child child;
  const pid_t pid = child.pid();
  cgroup_->move(pid, "a");
  read();
  child.burn(5ms);
  child.end();
  child.reap();
  read();
  EXPECT_TRUE(has_ended(pid));
  EXPECT_FALSE(find(pid));
  read();
  EXPECT_FALSE(has_ended(pid));
}

// The same group, the same name, more time than the first had: only its start distinguishes it. With and
// without a descriptor held for the first one (it ran again after it was first seen).
TEST_F(ProcessKernelTest, PidThatIsReusedIsAnotherProcess) {
  for (const bool held : {false, true}) {
    SCOPED_TRACE(held);
    auto first = std::make_unique<Child>();
    const pid_t pid = first->pid();
    cgroup_->move(pid, "a");
    first->burn(20ms);
    read(20s);
    const ProcessId id = find(pid)->id;
    if (held) {
      first->burn(10ms);
      read();
    }
    first.reset();
    Child second(pid);
    if (second.pid() < 0) GTEST_SKIP() << "pids cannot be chosen here";
    cgroup_->move(pid, "a");
    second.burn(60ms);
    read();
    EXPECT_EQ(std::ranges::count(sample_.ended, id), 1);
    ASSERT_TRUE(find(pid));
    EXPECT_NE(find(pid)->id, id);
    EXPECT_FALSE(find(pid)->before);
  }
}

TEST_F(ProcessKernelTest, OneThatEndsOutsideAnyGroupHasEnded) {
  Child child;
  const pid_t pid = child.pid();
  cgroup_->move(pid, "");
  read();
  EXPECT_EQ(group_of(pid), "/");
  child.burn(5ms);
  read();
  EXPECT_GE(time(pid), 5ms);
  child.end();
  child.reap();
  read();
  EXPECT_TRUE(has_ended(pid));
}

// A zombie's last usage went to its group's other account when it died. Found again by a full scan, it must
// not get time that it did not have in that window.
TEST_F(ProcessKernelTest, ZombieHasNoTime) {
  Child child;
  Child other;
  cgroup_->move(child.pid(), "a");
  cgroup_->move(other.pid(), "a");
  read();
  child.burn(30ms);
  child.end();
  read();
  EXPECT_FALSE(has_ended(child.pid()));
  other.burn(5ms);
  read(20s);  // a full scan
  ASSERT_TRUE(find(child.pid()));
  EXPECT_LE(time(child.pid()), 0ns);
}

TEST_F(ProcessKernelTest, OneThatMovesHasItsFormerGroup) {
  Child child;
  cgroup_->move(child.pid(), "a");
  read();
  const auto from = sample_.groups[find(child.pid())->group].incarnation;
  child.burn(5ms);
  cgroup_->move(child.pid(), "b");
  child.burn(5ms);
  read();
  EXPECT_EQ(group_of(child.pid()), "/b");
  ASSERT_TRUE(find(child.pid())->before);
  EXPECT_EQ(find(child.pid())->before->group, from);
  EXPECT_FALSE(has_ended(child.pid()));
}

TEST_F(ProcessKernelTest, ThatMovesIntoAQuietGroupHasNotEnded) {
  Child child;
  cgroup_->move(child.pid(), "a");
  read();
  child.burn(5ms);
  cgroup_->move(child.pid(), "b");
  read();
  EXPECT_FALSE(has_ended(child.pid()));
  child.burn(5ms);
  read();
  EXPECT_EQ(group_of(child.pid()), "/b");
}

TEST_F(ProcessKernelTest, NewNamesAreFoundWhetherByPrctlOrExec) {
  Child child;
  cgroup_->move(child.pid(), "a");
  read();
  const auto id = find(child.pid())->id;
  child.rename(") R 1 (\n\\x");
  child.burn(5ms);
  read();
  ASSERT_TRUE(find(child.pid()));
  EXPECT_EQ(find(child.pid())->comm, ") R 1 (\\x0a\\x");
  child.rename("second");
  child.burn(5ms);
  read();
  EXPECT_EQ(find(child.pid())->comm, "second");
  child.become_cat();
  read();
  ASSERT_TRUE(find(child.pid()));
  EXPECT_EQ(find(child.pid())->comm, "cat");
  EXPECT_EQ(find(child.pid())->id, id);
  EXPECT_TRUE(find(child.pid())->before);
  EXPECT_FALSE(has_ended(child.pid()));
}

TEST_F(ProcessKernelTest, ShortLivedOnesAreInTheirGroupsTimeOnly) {
  Child child;
  cgroup_->move(child.pid(), "a");
  read();
  child.burn_in_child(40ms);
  read();
  const GroupUsage& group = sample_.groups[tree_->find("/a")];
  EXPECT_GE(group.usage - *group.before, 39ms);
  EXPECT_LT(time(child.pid()), 30ms);
}

TEST_F(ProcessKernelTest, AFullScanFindsAllThereAre) {
  Child child;
  read();
  EXPECT_TRUE(find(1));
  EXPECT_EQ(group_of(child.pid()), "/");  // outside this tree
}

TEST_F(ProcessKernelTest, AProcessLeftOutIsTrackedAsSoonAsThereIsRoom) {
  table_ = std::make_unique<ProcessTable>(*host_, ProcessLimits{.in_group = 2});
  std::array<Child, 3> in_a;
  Child in_b;
  for (const Child& child : in_a) cgroup_->move(child.pid(), "a");
  cgroup_->move(in_b.pid(), "b");
  read();
  EXPECT_EQ(table_->left_out(), 1U);
  EXPECT_TRUE(find(in_b.pid()));
  const auto left_out = std::ranges::find_if(in_a, [&](const Child& child) { return !find(child.pid()); });
  ASSERT_NE(left_out, in_a.end());
  Child& reported = left_out == in_a.begin() ? in_a[1] : in_a[0];

  left_out->burn(5ms);
  reported.burn(5ms);
  read(20s);  // a full scan finds nobody new
  EXPECT_FALSE(find(left_out->pid()));
  EXPECT_GE(time(reported.pid()), 5ms);
  EXPECT_EQ(table_->left_out(), 1U);

  const pid_t ended = reported.pid();
  reported.end();
  reported.reap();
  left_out->burn(5ms);
  read();
  EXPECT_TRUE(has_ended(ended));
  read();
  left_out->burn(5ms);
  read();
  EXPECT_EQ(table_->left_out(), 0U);
  EXPECT_EQ(group_of(left_out->pid()), "/a");
}

// Otherwise the held descriptor distinguishes a process from the next one with its pid.
TEST_F(ProcessKernelTest, WithoutAPlaceToHoldThemProcessesAreComparedEachTime) {
  DescriptorBudget budget(0);
  table_ = std::make_unique<ProcessTable>(*host_, ProcessLimits{.descriptors = &budget});
  auto child = std::make_unique<Child>();
  const pid_t pid = child->pid();
  cgroup_->move(pid, "a");
  read();
  const auto descriptors = open_descriptors();
  for (int i = 0; i < 3; ++i) {
    child->burn(5ms);
    read();
    EXPECT_GE(time(pid), 5ms);
  }
  EXPECT_EQ(open_descriptors(), descriptors);
  child.reset();
  Child second(pid);
  if (second.pid() < 0) GTEST_SKIP() << "pids cannot be chosen here";
  cgroup_->move(pid, "a");
  second.burn(60ms);
  read();
  EXPECT_TRUE(has_ended(pid));
  ASSERT_TRUE(find(pid));
  EXPECT_FALSE(find(pid)->before);
}

// No process has ended merely because nothing could be listed.
TEST_F(ProcessKernelTest, WithoutDescriptorsNoProcessHasEnded) {
  Child child;
  cgroup_->move(child.pid(), "a");
  read();
  {
    const NoDescriptors none;
    read(20s);  // a full scan is due
    child.burn(5ms);
    read(20s);
  }
  for (const pid_t pid : {child.pid(), ::getpid(), 1}) EXPECT_FALSE(has_ended(pid)) << pid;
  child.burn(5ms);
  read();
  EXPECT_EQ(group_of(child.pid()), "/a");
  EXPECT_FALSE(find(child.pid())->before);  // it also ran in the window before
  child.burn(5ms);
  read();
  EXPECT_GE(time(child.pid()), 5ms);
}

}  // namespace
}  // namespace keplerd
