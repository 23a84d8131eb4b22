// SPDX-License-Identifier: Apache-2.0
// Processes that are read only when somebody wants them: on a written host, whose /proc is read as a whole.
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/fake_host.h"
#include "usage/processes_fixture.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

class WrittenDemandTest : public ProcessesTest {
 protected:
  WrittenDemandTest() {
    fake_.add_cgroup("/a");
    fake_.add_cgroup("/b");
    fake_.add_process({.pid = 42, .utime = 3, .cgroup = "/a"});
    fake_.add_process({.pid = 43, .cgroup = "/b"});
    fake_.add_process({.pid = 9, .comm = "kswapd0", .ppid = 2, .kernel_thread = true});
    host_ = std::make_unique<HostRoot>(fake_.open());
    tree_ = std::make_unique<CgroupTree>(*host_->cgroupfs());
    table_ = std::make_unique<ProcessTable>(*host_);
  }

  void run(pid_t pid, const std::string& group, std::int64_t ticks) {
    fake_.set_process_time(pid, ticks);
    fake_.set_cgroup_usage(group, usage_ += 10'000);
  }

  FakeHost fake_;
  std::unique_ptr<HostRoot> host_;
  std::int64_t usage_ = 0;
};

TEST_F(WrittenDemandTest, GroupIsBehindUntilItsProcessesAreWanted) {
  settle();
  run(42, "/a", 5);
  read();
  EXPECT_EQ(find(42), nullptr);
  EXPECT_TRUE(is_behind("/a"));
  EXPECT_FALSE(is_behind("/b"));
  table_->demand({});
  read();
  ASSERT_NE(find(42), nullptr);
  EXPECT_EQ(find(42)->usage, 50ms);
  ASSERT_TRUE(find(42)->before);
  EXPECT_EQ(find(42)->before->usage, 30ms);
  EXPECT_FALSE(is_behind("/a"));
}

TEST_F(WrittenDemandTest, EveryTenSecondsAllAreRead) {
  settle();
  for (int second = 1; second < 10; ++second) {
    run(42, "/a", 3 + second);
    read();
    EXPECT_TRUE(is_behind("/a")) << second;
  }
  read();
  ASSERT_NE(find(42), nullptr);
  EXPECT_EQ(find(42)->before->usage, 30ms);
  EXPECT_EQ(find(42)->usage, 120ms);
  EXPECT_FALSE(is_behind("/a"));
}

TEST_F(WrittenDemandTest, TheWholeGroupOfANeededProcessIsRead) {
  settle();
  table_->demand({.all = false, .needed = {{42, 100}}, .groups = {}});
  run(42, "/a", 5);
  run(43, "/b", 5);
  read();
  EXPECT_NE(find(42), nullptr);
  EXPECT_EQ(find(43), nullptr);
  EXPECT_FALSE(is_behind("/a"));
  EXPECT_TRUE(is_behind("/b"));
}

TEST_F(WrittenDemandTest, ProcessesOutsideGroupsAreReadWithEachSample) {
  settle();
  fake_.set_process_time(9, 7);
  read();
  EXPECT_NE(find(9), nullptr);
}

TEST_F(WrittenDemandTest, NewAndMovedAndEndedProcessesAreFoundAtOnce) {
  settle();
  run(42, "/a", 5);
  read();
  fake_.add_process({.pid = 50, .cgroup = "/a"});
  fake_.move_process(43, "/a");
  run(42, "/a", 6);
  read();
  ASSERT_NE(find(50), nullptr);
  EXPECT_TRUE(find(50)->fresh);
  ASSERT_NE(find(43), nullptr);
  EXPECT_EQ(find(42), nullptr);
  fake_.remove_process(42);
  read();
  EXPECT_EQ(sample_.ended, (std::vector<ProcessId>{{42, 100}}));
}

// It may be about to execute another program, such as a hypervisor.
TEST_F(WrittenDemandTest, AfterANewProcessTheGroupIsReadForTenSeconds) {
  settle();
  fake_.add_process({.pid = 50, .cgroup = "/a"});
  run(42, "/a", 5);
  read();
  fake_.add_process({.pid = 50, .comm = "qemu-system-x86", .cgroup = "/a"});
  run(50, "/a", 5);
  read();
  ASSERT_NE(find(50), nullptr);
  EXPECT_TRUE(find(50)->fresh);
  EXPECT_FALSE(is_behind("/a"));
}

TEST_F(WrittenDemandTest, WhatIsSavedSaysThatTheTimesAreNotKnown) {
  settle();
  EXPECT_EQ(table_->all().size(), 3U);
  run(42, "/a", 5);
  read();
  const auto group = std::ranges::find(sample_.groups, "/a", &GroupUsage::path);
  EXPECT_EQ(table_->fallen_behind(), std::vector{group->identity});
  EXPECT_EQ(table_->all().size(), 2U);
  run(42, "/a", 6);
  read();
  EXPECT_TRUE(table_->fallen_behind().empty());
  table_->demand({});
  read();
  EXPECT_EQ(table_->all().size(), 3U);
}

}  // namespace
}  // namespace keplerd
