// SPDX-License-Identifier: Apache-2.0
// Processes that are read only when somebody wants them: on this host, in cgroups of the kernel.
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/no_descriptors.h"
#include "usage/child.h"
#include "usage/process_clock.h"
#include "usage/processes_kernel_fixture.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

class KernelDemandTest : public KernelProcessesTest {
 protected:
  void settle_in_one_group(const Child& one, const Child& other) {
    cgroup_->move(one.pid(), "a");
    cgroup_->move(other.pid(), "a");
    settle();
  }
};

TEST_F(KernelDemandTest, TimeSinceTheLastReadingIsTheGroupsMeanwhile) {
  Child child, other;
  settle_in_one_group(child, other);
  const auto before = read_process_clock(child.pid());
  child.burn(20ms);
  read();
  EXPECT_EQ(find(child.pid()), nullptr);
  EXPECT_TRUE(is_behind("/a"));
  read();  // it has not run since, and stays behind
  EXPECT_TRUE(is_behind("/a"));
  cgroup_->move(other.pid(), "b");
  other.burn(20ms);
  read();
  ASSERT_NE(find(other.pid()), nullptr);
  EXPECT_NE(find(other.pid())->before->group, sample_.groups[find(other.pid())->group].incarnation);
  table_->demand({});
  read();
  ASSERT_NE(find(child.pid()), nullptr);
  EXPECT_FALSE(is_behind("/a"));
  EXPECT_EQ(find(child.pid())->before->usage, *before);
  EXPECT_GE(find(child.pid())->usage - *before, 20ms);
}

// Short of descriptors.
TEST_F(KernelDemandTest, GroupWhoseListCannotBeReadIsBehind) {
  tree_ = std::make_unique<CgroupTree>(*host_->cgroupfs(), CgroupLimits{.descriptors = &none_held_});
  Child child;
  cgroup_->move(child.pid(), "a");
  settle();
  const auto before = read_process_clock(child.pid());
  child.burn(20ms);
  tree_->read(sample_.groups);
  {
    const NoDescriptors none;
    table_->demand({});
    table_->read(tree_.get(), boottime_ += 1s, sample_);
  }
  EXPECT_EQ(find(child.pid()), nullptr);
  EXPECT_TRUE(sample_.ended.empty());
  EXPECT_TRUE(is_behind("/a"));
  read();
  ASSERT_NE(find(child.pid()), nullptr);
  EXPECT_FALSE(is_behind("/a"));
  EXPECT_EQ(find(child.pid())->before->usage, *before);
  EXPECT_GE(find(child.pid())->usage - *before, 20ms);
}

TEST_F(KernelDemandTest, EndIsFoundAtOnce) {
  Child child, other;
  settle_in_one_group(child, other);
  other.burn(20ms);
  const pid_t pid = child.pid();
  child.end();
  child.reap();
  read();
  ASSERT_EQ(sample_.ended.size(), 1U);
  EXPECT_EQ(sample_.ended[0].pid, pid);
  EXPECT_TRUE(is_behind("/a"));
}

TEST_F(KernelDemandTest, ZombieIsNotRunningOnceItIsReaped) {
  Child child;
  cgroup_->move(child.pid(), "a");
  settle();
  child.burn(5ms);
  child.end();
  read(11s);
  read(11s);
  EXPECT_TRUE(sample_.ended.empty());
  const pid_t pid = child.pid();
  child.reap();
  read(11s);
  ASSERT_EQ(sample_.ended.size(), 1U);
  EXPECT_EQ(sample_.ended[0].pid, pid);
}

// Its clock need not be read while another process has used all that the group has.
TEST_F(KernelDemandTest, ProcessThatWakesAfterOthersHaveRunHasAllItsTime) {
  Child child, other;
  settle_in_one_group(child, other);
  table_->demand({});
  read(11s);
  for (int i = 0; i < 3; ++i) {
    child.burn(20ms);
    read();
    ASSERT_NE(find(child.pid()), nullptr);
    EXPECT_EQ(find(other.pid()), nullptr);
  }
  const auto before = read_process_clock(other.pid());
  child.burn(20ms);
  other.burn(2ms);
  read();
  ASSERT_NE(find(child.pid()), nullptr);
  ASSERT_NE(find(other.pid()), nullptr);
  EXPECT_EQ(find(other.pid())->before->usage, *before);
  EXPECT_GE(find(other.pid())->usage - *before, 2ms);
}

TEST_F(KernelDemandTest, ProcessThatWakesWhenAnotherEndsIsReadAtOnce) {
  Child child, other;
  settle_in_one_group(child, other);
  table_->demand({});
  read(11s);
  const pid_t pid = child.pid();
  child.burn(20ms);
  child.end();
  child.reap();
  other.burn(2ms);
  read();
  ASSERT_EQ(sample_.ended.size(), 1U);
  EXPECT_EQ(sample_.ended[0].pid, pid);
  EXPECT_NE(find(other.pid()), nullptr);
  other.burn(2ms);
  read();
  EXPECT_NE(find(other.pid()), nullptr);
}

}  // namespace
}  // namespace keplerd
