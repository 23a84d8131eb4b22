// SPDX-License-Identifier: Apache-2.0
// The processes of written hosts, whose time comes from /proc/PID/stat. With the kernel's own clocks:
// process_kernel_test.cpp.
#include "usage/process_table.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/fake_host.h"
#include "usage/cgroup_tree.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

class ProcessTableTest : public testing::Test {
 protected:
  void read() {
    boottime_ += 1s;
    tree_.read(sample_.groups);
    table_.read(&tree_, boottime_, sample_);
  }

  const ProcessUsage* find(std::int32_t pid) const {
    const auto found =
        std::ranges::find_if(sample_.processes, [&](const ProcessUsage& p) { return p.id.pid == pid; });
    return found == sample_.processes.end() ? nullptr : &*found;
  }

  std::string_view group_of(std::int32_t pid) const {
    const std::size_t group = find(pid)->group;
    return group == kNoGroup ? "/" : sample_.groups[group].path;
  }

  FakeHost fake_;
  HostRoot host_ = fake_.open();
  CgroupTree tree_{*host_.cgroupfs()};
  ProcessTable table_{host_};
  UsageSample sample_;
  Nanoseconds boottime_ = 1000s;
};

using Ids = std::vector<ProcessId>;

TEST_F(ProcessTableTest, HasTimeGroupAndName) {
  fake_.add_cgroup("/a/b");
  fake_.add_process({.pid = 42, .comm = ") R 1 (\n", .start = 7, .utime = 3, .stime = 4, .cgroup = "/a/b"});
  fake_.add_process({.pid = 9, .comm = "kswapd0", .ppid = 2, .kernel_thread = true});
  read();
  ASSERT_EQ(sample_.processes.size(), 2U);
  EXPECT_EQ(find(42)->id, (ProcessId{42, 7}));
  EXPECT_EQ(find(42)->comm, ") R 1 (\\x0a");
  EXPECT_EQ(find(42)->usage, 70ms);
  EXPECT_EQ(group_of(42), "/a/b");
  EXPECT_FALSE(find(42)->kernel_thread);
  EXPECT_FALSE(find(42)->before);
  EXPECT_TRUE(find(9)->kernel_thread);
  EXPECT_EQ(group_of(9), "/");
}

TEST_F(ProcessTableTest, HasTimeAndGroupOfThePreviousSample) {
  fake_.add_cgroup("/a");
  fake_.add_process({.pid = 42, .utime = 3, .cgroup = "/a"});
  read();
  fake_.set_process_time(42, 5);
  read();
  ASSERT_TRUE(find(42)->before);
  EXPECT_EQ(find(42)->before->usage, 30ms);
  EXPECT_EQ(find(42)->before->group, sample_.groups[0].incarnation);
  EXPECT_EQ(find(42)->usage, 50ms);
}

TEST_F(ProcessTableTest, ProcessThatMovedHasItsFormerGroup) {
  fake_.add_cgroup("/a");
  fake_.add_cgroup("/b");
  fake_.add_process({.pid = 42, .cgroup = "/a"});
  read();
  const auto from = sample_.groups[0].incarnation;
  fake_.move_process(42, "/b");
  read();
  EXPECT_EQ(group_of(42), "/b");
  EXPECT_EQ(find(42)->before->group, from);
}

TEST_F(ProcessTableTest, ProcessThatEndedIsReportedOnce) {
  fake_.add_process({.pid = 42, .start = 7});
  read();
  EXPECT_EQ(sample_.ended, Ids{});
  fake_.remove_process(42);
  read();
  EXPECT_EQ(sample_.ended, (Ids{{42, 7}}));
  EXPECT_TRUE(sample_.processes.empty());
  read();
  EXPECT_EQ(sample_.ended, Ids{});
}

TEST_F(ProcessTableTest, PidThatIsReusedIsAnotherProcess) {
  fake_.add_cgroup("/a");
  fake_.add_process({.pid = 42, .comm = "old", .start = 7, .utime = 3, .cgroup = "/a"});
  read();
  fake_.remove_process(42);
  fake_.add_process({.pid = 42, .comm = "new", .start = 8, .utime = 90, .cgroup = "/a"});
  read();
  EXPECT_EQ(sample_.ended, (Ids{{42, 7}}));
  EXPECT_EQ(find(42)->id, (ProcessId{42, 8}));
  EXPECT_EQ(find(42)->comm, "new");
  EXPECT_FALSE(find(42)->before);
}

TEST_F(ProcessTableTest, NewProcessesOutsideGroupsHaveUsedAllTheirTimeSince) {
  fake_.add_cgroup("/a");
  read();                                                        // at 1001 s
  fake_.add_process({.pid = 42, .start = 100'150, .utime = 3});  // 1001.5 s
  fake_.add_process({.pid = 43, .start = 100'050, .utime = 3});  // before, but not seen
  fake_.add_process(
      {.pid = 44, .start = 100'150, .utime = 3, .cgroup = "/a"});  // its group's time includes it
  read();
  ASSERT_TRUE(find(42)->before);
  EXPECT_EQ(find(42)->before->usage, 0ms);
  EXPECT_EQ(find(42)->before->group, 0U);
  EXPECT_FALSE(find(43)->before);
  EXPECT_FALSE(find(44)->before);
}

TEST_F(ProcessTableTest, NewNameIsReported) {
  fake_.add_process({.pid = 42, .comm = "sh"});
  read();
  fake_.add_process({.pid = 42, .comm = "cc1plus", .utime = 5});
  read();
  EXPECT_EQ(find(42)->comm, "cc1plus");
  EXPECT_TRUE(find(42)->before);
}

TEST_F(ProcessTableTest, IsFreshWhenItIsNewAndWhenItHasAnotherName) {
  fake_.add_process({.pid = 42, .comm = "sh", .ppid = 7});
  read();
  EXPECT_TRUE(find(42)->fresh);
  EXPECT_EQ(find(42)->parent, 7);
  fake_.add_process({.pid = 42, .comm = "sh", .utime = 3});
  read();
  EXPECT_FALSE(find(42)->fresh);
  fake_.add_process({.pid = 42, .comm = "qemu-system-x86", .utime = 5});
  read();
  EXPECT_TRUE(find(42)->fresh);
  fake_.add_process({.pid = 42, .comm = "qemu-system-x86", .utime = 6});
  read();
  EXPECT_FALSE(find(42)->fresh);
}

TEST_F(ProcessTableTest, ProcessOfAThreadedGroupIsItsDomains) {
  fake_.add_cgroup("/vm/emulator");
  fake_.set_cgroup_type("/vm/emulator", "threaded");
  fake_.add_process({.pid = 42, .cgroup = "/vm/emulator"});
  read();
  EXPECT_EQ(group_of(42), "/vm");
}

TEST_F(ProcessTableTest, WhatNoGroupListsIsFoundByItsOwnRecord) {
  fake_.add_cgroup("/a");
  fake_.add_process({.pid = 42, .cgroup = "/a"});
  fake_.set_cgroup_procs("/a", {});  // a zombie
  read();
  EXPECT_EQ(group_of(42), "/a");
}

TEST_F(ProcessTableTest, MalformedStatCostsThatProcessOnly) {
  fake_.add_process({.pid = 42});
  fake_.add_process({.pid = 43});
  fake_.write("proc/42/stat", "42 (x S garbage\n");
  fake_.write("proc/44/stat", "45 (of another) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 7 1\n");
  read();
  EXPECT_EQ(find(42), nullptr);
  EXPECT_EQ(find(44), nullptr);
  EXPECT_NE(find(43), nullptr);
}

TEST_F(ProcessTableTest, TheUserIsTheOwnerOfTheDirectoryOrWhereThatIsRootTheStatus) {
  fake_.add_process({.pid = 42});
  fake_.add_process({.pid = 43});
  fake_.write("proc/42/status", "Name:\ttask\nUid:\t0\t1000\t0\t0\n");
  read();
  const bool root = ::geteuid() == 0;
  EXPECT_EQ(find(42)->user, root ? 1000 : ::geteuid());
  EXPECT_EQ(find(43)->user, ::geteuid());
}

TEST_F(ProcessTableTest, TheUserIsLookedAtAgainWithANewNameAndWithinTenSecondsOfHavingRun) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give directories away";
  const auto give = [&](uid_t user) {
    ASSERT_EQ(0, ::chown((fake_.paths().procfs + "/42").c_str(), user, static_cast<gid_t>(-1)));
  };
  fake_.add_process({.pid = 42});
  give(1000);
  read();
  EXPECT_EQ(find(42)->user, 1000U);
  give(1001);
  read();
  EXPECT_EQ(find(42), nullptr) << "not at each sample";
  fake_.add_process({.pid = 42, .comm = "other"});
  read();
  EXPECT_EQ(find(42)->user, 1001U);
  fake_.add_process({.pid = 42, .comm = "other", .utime = 1});
  read();
  EXPECT_EQ(find(42)->user, 1001U);
  give(1002);
  boottime_ += 10s;
  read();
  EXPECT_EQ(find(42)->user, 1002U);
}

TEST_F(ProcessTableTest, WhileNobodyWantsProcessesTheUserIsLookedAtOnceAMinuteAfterTheFirst) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give directories away";
  fake_.add_process({.pid = 42, .start = 0});
  fake_.add_process({.pid = 43, .start = 100'500});  // at 1,005 s
  std::int64_t used = 0;
  // The users of both, ten seconds later, given that they ran and have the user `given` now.
  const auto later = [&](uid_t given) {
    ++used;
    fake_.add_process({.pid = 42, .start = 0, .utime = used});
    fake_.add_process({.pid = 43, .start = 100'500, .utime = used});
    for (const char* pid : {"/42", "/43"})
      EXPECT_EQ(0, ::chown((fake_.paths().procfs + pid).c_str(), given, static_cast<gid_t>(-1)));
    boottime_ += 9s;
    read();
    return std::pair(*find(42)->user, *find(43)->user);
  };
  using Users = std::pair<std::uint32_t, std::uint32_t>;
  EXPECT_EQ(later(1000), Users(1000, 1000));  // at 1,010 s
  table_.demand({.all = false, .needed = {}, .groups = {}});
  for (const uid_t at : {1020, 1030, 1040, 1050, 1060}) EXPECT_EQ(later(at), Users(1000, at)) << at;
  EXPECT_EQ(later(1070), Users(1070, 1070));
  EXPECT_EQ(later(1080), Users(1070, 1070)) << "neither is young";
  table_.demand({});
  EXPECT_EQ(later(1090), Users(1090, 1090));
}

TEST_F(ProcessTableTest, TheUserOfAWorkerOfTheKernelIsNotLookedAtWithEachOfItsNames) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give directories away";
  const auto rename = [&](const char* comm, std::int64_t time, uid_t user) {
    for (const std::int32_t pid : {42, 43})
      fake_.add_process({.pid = pid, .comm = comm, .utime = time, .kernel_thread = pid == 42});
    for (const char* pid : {"/42", "/43"})
      ASSERT_EQ(0, ::chown((fake_.paths().procfs + pid).c_str(), user, static_cast<gid_t>(-1)));
    read();
  };
  fake_.add_process({.pid = 42, .comm = "kworker/0:1", .kernel_thread = true});
  fake_.add_process({.pid = 43, .comm = "kworker/0:1"});
  read();
  EXPECT_EQ(find(42)->user, 0U);
  rename("kworker/0:1-events", 1, 1001);
  EXPECT_EQ(find(42)->comm, "kworker/0:1-events");
  EXPECT_EQ(find(42)->user, 0U);
  EXPECT_EQ(find(43)->user, 1001U) << "this one is a program";
  rename("modprobe", 2, 1002);
  EXPECT_EQ(find(42)->user, 1002U) << "it executes a program";
  rename("kworker/0:1", 3, 1003);
  EXPECT_EQ(find(42)->user, 1002U);
  boottime_ += 10s;
  rename("kworker/0:1-events", 4, 1003);
  EXPECT_EQ(find(42)->user, 1003U);
}

TEST_F(ProcessTableTest, BeyondTheLimitKnownProcessesStayAndNewOnesAreNotTracked) {
  ProcessTable table(host_, {.all = 3});
  fake_.add_cgroup("/a");
  fake_.add_cgroup("/b");
  for (const pid_t pid : {10, 11}) fake_.add_process({.pid = pid, .cgroup = "/a"});
  fake_.add_process({.pid = 12, .cgroup = "/b"});
  const auto read_again = [&] {
    boottime_ += 1s;
    tree_.read(sample_.groups);
    table.read(&tree_, boottime_, sample_);
  };
  read_again();
  EXPECT_EQ(table.left_out(), 0U);

  fake_.add_process({.pid = 5, .cgroup = "/a"});
  for (const pid_t pid : {10, 11, 12}) fake_.set_process_time(pid, 7);
  read_again();
  EXPECT_EQ(table.left_out(), 1U);
  EXPECT_EQ(sample_.processes.size(), 3U);
  EXPECT_FALSE(find(5));

  fake_.remove_process(12);
  read_again();
  EXPECT_EQ(sample_.ended, (Ids{{12, 100}}));
  read_again();
  EXPECT_EQ(table.left_out(), 0U);
  ASSERT_TRUE(find(5));
  EXPECT_FALSE(find(5)->before);  // its usage so far is its group's
}

TEST_F(ProcessTableTest, OneGroupDoesNotTakeAllThePlaces) {
  ProcessTable table(host_, {.all = 100, .in_group = 3});
  fake_.add_cgroup("/bomb");
  fake_.add_cgroup("/neighbour");
  for (pid_t pid = 10; pid < 50; ++pid) fake_.add_process({.pid = pid, .cgroup = "/bomb"});
  for (const pid_t pid : {50, 51, 52}) fake_.add_process({.pid = pid, .cgroup = "/neighbour"});
  tree_.read(sample_.groups);
  table.read(&tree_, boottime_, sample_);
  EXPECT_EQ(sample_.processes.size(), 6U);
  for (const pid_t pid : {50, 51, 52}) EXPECT_TRUE(find(pid)) << pid;
  EXPECT_EQ(table.left_out(), 37U);
}

TEST_F(ProcessTableTest, OutsideAnyGroupAllProcessesAreTracked) {
  ProcessTable table(host_, {.all = 1, .in_group = 1});
  for (const pid_t pid : {10, 11, 12}) fake_.add_process({.pid = pid});
  table.read(nullptr, boottime_, sample_);
  EXPECT_EQ(sample_.processes.size(), 3U);
  EXPECT_EQ(table.left_out(), 0U);
}

TEST_F(ProcessTableTest, WithoutGroupsAllAreOutside) {
  UsageSample sample;
  fake_.add_process({.pid = 42, .utime = 3});
  table_.read(nullptr, 1s, sample);
  ASSERT_EQ(sample.processes.size(), 1U);
  EXPECT_EQ(sample.processes[0].group, kNoGroup);
  fake_.set_process_time(42, 9);
  table_.read(nullptr, 2s, sample);
  EXPECT_EQ(sample.processes[0].before->usage, 30ms);
}

}  // namespace
}  // namespace keplerd
