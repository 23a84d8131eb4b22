// SPDX-License-Identifier: Apache-2.0
// Processes that are read only when somebody wants them: on a written host, whose /proc is read as a whole,
// and on this one, whose processes are found by their cgroups.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/fake_host.h"
#include "usage/cgroup_tree.h"
#include "usage/child.h"
#include "usage/process_clock.h"
#include "usage/process_table.h"
#include "usage/real_cgroup.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

class DemandTest : public testing::Test {
 protected:
  void read(Nanoseconds after = 1s) {
    boottime_ += after;
    sample_.forks = forks_;
    tree_->read(sample_.groups, forks_);
    table_->read(tree_.get(), boottime_, sample_);
  }

  // What is new has been read often enough.
  void settle() {
    read();
    read(11s);
    table_->demand({.all = false, .needed = {}, .groups = {}});
  }

  const ProcessUsage* find(std::int32_t pid) const {
    const auto found =
        std::ranges::find_if(sample_.processes, [&](const ProcessUsage& p) { return p.id.pid == pid; });
    return found == sample_.processes.end() ? nullptr : &*found;
  }

  bool is_behind(std::string_view path) const {
    const auto group = std::ranges::find(sample_.groups, path, &GroupUsage::path);
    return group->behind;
  }

  DescriptorBudget none_held_{0};
  std::unique_ptr<CgroupTree> tree_;
  std::unique_ptr<ProcessTable> table_;
  UsageSample sample_;
  Nanoseconds boottime_ = 1000s;
  std::uint64_t forks_ = 0;  // unknown
};

class WrittenDemandTest : public DemandTest {
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
  ASSERT_EQ(table_->left_behind().size(), 1U);
  EXPECT_EQ(table_->left_behind()[0].id.pid, 42);
  EXPECT_EQ(table_->left_behind()[0].group, SavedUsage::kBehind);
  EXPECT_EQ(table_->all().size(), 2U);
  run(42, "/a", 6);
  read();
  EXPECT_TRUE(table_->left_behind().empty());
  table_->demand({});
  read();
  EXPECT_EQ(table_->all().size(), 3U);
}

class KernelDemandTest : public DemandTest {
 protected:
  void SetUp() override {
    std::string why_not;
    cgroup_ = RealCgroup::make(why_not);
    if (!cgroup_) GTEST_SKIP() << "no cgroup can be made here: " << why_not;
    auto host = HostRoot::open({.cgroupfs = cgroup_->path()});
    ASSERT_TRUE(host);
    host_ = std::make_unique<HostRoot>(*std::move(host));
    ASSERT_TRUE(host_->has_own_procfs());
    tree_ = std::make_unique<CgroupTree>(*host_->cgroupfs());
    table_ = std::make_unique<ProcessTable>(*host_);
    cgroup_->add("a");
    cgroup_->add("b");
  }

  std::unique_ptr<RealCgroup> cgroup_;
  std::unique_ptr<HostRoot> host_;
};

TEST_F(KernelDemandTest, TimeSinceTheLastReadingIsTheGroupsMeanwhile) {
  Child child, other;
  cgroup_->move(child.pid(), "a");
  cgroup_->move(other.pid(), "a");
  settle();
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

// Processes of this host in a written tree of cgroups, whose files say what the test wants.
class CountedDemandTest : public DemandTest {
 protected:
  CountedDemandTest() {
    fake_.add_cgroup("/a");
    host_ = std::make_unique<HostRoot>(*HostRoot::open({.cgroupfs = fake_.paths().cgroupfs}));
    tree_ = std::make_unique<CgroupTree>(*host_->cgroupfs());
    table_ = std::make_unique<ProcessTable>(*host_);
    fake_.set_cgroup_procs("/a", {child_.pid()});
  }
  void set_tasks(int count) { fake_.write("cgroup/a/pids.current", std::to_string(count) + "\n"); }
  // The group has run.
  void read_moved(Nanoseconds after = 1s) {
    fake_.set_cgroup_usage("/a", usage_ += 10'000);
    read(after);
  }
  void add_other() { fake_.set_cgroup_procs("/a", {child_.pid(), other_.pid()}); }

  FakeHost fake_;
  std::unique_ptr<HostRoot> host_;
  Child child_, other_;
  std::int64_t usage_ = 0;
};

TEST_F(CountedDemandTest, WithAsManyTasksAsBeforeTheListIsNotReadAgain) {
  set_tasks(1);
  settle();
  read_moved();
  add_other();
  read_moved();
  EXPECT_EQ(find(other_.pid()), nullptr);
  EXPECT_TRUE(is_behind("/a"));
  set_tasks(2);
  read_moved();
  EXPECT_NE(find(other_.pid()), nullptr) << "another number";
}

TEST_F(CountedDemandTest, AllProcessesAreOnlyListedAgainAfterOneWasCreated) {
  settle();
  bool is_skipped = false;
  // A process of the host that ends while all are listed makes another listing necessary.
  for (int attempt = 0; attempt < 50 && !is_skipped; ++attempt) {
    ++forks_;
    read(11s);
    Child late;
    read(11s);
    if (find(late.pid()) != nullptr) continue;
    is_skipped = true;
    ++forks_;
    read(11s);
    EXPECT_NE(find(late.pid()), nullptr);
  }
  EXPECT_TRUE(is_skipped);
}

TEST_F(CountedDemandTest, WithoutTheirNumberTheListIsRead) {
  settle();
  read_moved();
  add_other();
  read_moved();
  EXPECT_NE(find(other_.pid()), nullptr);
}

TEST_F(CountedDemandTest, WithoutTheirNumberTheListIsNotReadWhileNoProcessIsCreatedOnTheHost) {
  forks_ = 7;
  settle();
  add_other();
  for (int second = 1; second < 10; ++second) {
    read_moved();
    EXPECT_EQ(find(other_.pid()), nullptr);
    EXPECT_TRUE(is_behind("/a"));
  }
  read_moved();
  EXPECT_NE(find(other_.pid()), nullptr) << "every ten seconds";
}

TEST_F(CountedDemandTest, AfterAProcessIsCreatedTheListIsRead) {
  forks_ = 7;
  settle();
  read_moved();
  add_other();
  ++forks_;
  read_moved();
  EXPECT_NE(find(other_.pid()), nullptr);
}

TEST_F(CountedDemandTest, AProcessThatIsCreatedWhileItsGroupIsIdleIsFoundWhenThatHasRun) {
  forks_ = 7;
  settle();
  read_moved();
  add_other();
  ++forks_;
  read();
  read_moved();
  EXPECT_NE(find(other_.pid()), nullptr);
}

TEST_F(CountedDemandTest, TheNumberCountsEvenIfNoProcessIsCreatedOnTheHost) {
  set_tasks(1);
  forks_ = 7;
  settle();
  read_moved();
  add_other();  // it is moved here
  set_tasks(2);
  read_moved();
  EXPECT_NE(find(other_.pid()), nullptr);
}

TEST_F(CountedDemandTest, AfterAListThatCannotBeReadTheNumberSaysNothing) {
  set_tasks(1);
  settle();
  read_moved();
  fake_.break_file("cgroup/a/cgroup.procs");
  set_tasks(2);
  read_moved();
  fake_.remove("cgroup/a/cgroup.procs");
  add_other();
  read_moved();
  EXPECT_NE(find(other_.pid()), nullptr);
}

TEST_F(CountedDemandTest, EveryTenSecondsTheListIsRead) {
  set_tasks(1);
  settle();
  read_moved();
  add_other();
  read_moved(10s);
  EXPECT_NE(find(other_.pid()), nullptr);
}

TEST_F(CountedDemandTest, WhoeverAsksSeesAll) {
  set_tasks(1);
  settle();
  read_moved();
  add_other();
  table_->demand({});
  read_moved();
  EXPECT_NE(find(other_.pid()), nullptr);
}

TEST_F(CountedDemandTest, ANumberThatIsOlderThanTheListSaysNothing) {
  set_tasks(1);
  settle();
  read_moved();
  table_->demand({});
  read_moved();
  table_->demand({.all = false, .needed = {}, .groups = {}});
  add_other();
  read_moved();
  EXPECT_NE(find(other_.pid()), nullptr) << "the number is the same, but the list has been read since";
}

TEST_F(CountedDemandTest, AGroupWithoutProcessesIsNotBehind) {
  set_tasks(1);
  settle();
  fake_.set_cgroup_procs("/a", {});
  set_tasks(0);
  read_moved();
  read_moved();
  EXPECT_FALSE(is_behind("/a"));
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
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{.rlim_cur = 3, .rlim_max = limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  table_->demand({});
  table_->read(tree_.get(), boottime_ += 1s, sample_);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
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
  cgroup_->move(child.pid(), "a");
  cgroup_->move(other.pid(), "a");
  settle();
  other.burn(20ms);
  const pid_t pid = child.pid();
  child.end();
  child.reap();
  read();
  ASSERT_EQ(sample_.ended.size(), 1U);
  EXPECT_EQ(sample_.ended[0].pid, pid);
  EXPECT_TRUE(is_behind("/a"));
}

}  // namespace
}  // namespace keplerd
