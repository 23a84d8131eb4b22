// SPDX-License-Identifier: Apache-2.0
// Whether a cgroup's list of processes, and that of all, are read while nobody wants them.
#include <gtest/gtest.h>

#include "usage/written_lists_fixture.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

using CountedDemandTest = WrittenListsTest;

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
  table_->demand({});
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

TEST_F(CountedDemandTest, AllProcessesAreListedEveryTenMinutesAndForWhoAsks) {
  settle();
  Child one;
  ++forks_;
  read(10min - 11s);
  EXPECT_EQ(find(one.pid()), nullptr);
  read(11s);
  EXPECT_NE(find(one.pid()), nullptr);
  Child two;
  ++forks_;
  read(11s);
  EXPECT_EQ(find(two.pid()), nullptr);
  table_->demand({});
  read();
  EXPECT_NE(find(two.pid()), nullptr);
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

// Outside any group, as kernel threads are.
TEST_F(CountedDemandTest, TheListOfThoseOutsideGroupsIsReadAfterOneIsCreatedAndEveryTenSeconds) {
  const auto has_outside = [&](const Child& child) {
    const ProcessUsage* process = find(child.pid());
    return process != nullptr && process->group == kNoGroup;
  };
  forks_ = 7;
  fake_.set_cgroup_procs("/a", {});
  fake_.set_cgroup_procs("", {child_.pid()});
  settle();
  read(11s);
  fake_.set_cgroup_procs("", {child_.pid(), other_.pid()});
  other_.burn(5ms);
  for (int second = 1; second < 10; ++second) {
    child_.burn(5ms);
    read();
    EXPECT_TRUE(has_outside(child_)) << "its clock is read in any case";
    EXPECT_FALSE(has_outside(other_));
  }
  read();
  EXPECT_TRUE(has_outside(other_));

  read(11s);
  fake_.set_cgroup_procs("", {child_.pid()});
  read();
  Child late;
  fake_.set_cgroup_procs("", {child_.pid(), late.pid()});
  ++forks_;
  read();
  EXPECT_TRUE(has_outside(late));
}

// As in a container: the number includes all groups.
TEST_F(CountedDemandTest, TheNumberOfTheRootSaysNothingOfThoseOutsideGroups) {
  forks_ = 7;
  fake_.write("cgroup/pids.current", "5\n");
  settle();
  read(11s);
  read();
  Child late;
  fake_.set_cgroup_procs("", {late.pid()});
  ++forks_;
  read();
  EXPECT_NE(find(late.pid()), nullptr);
}

TEST_F(CountedDemandTest, AProcessThatIsNewOutsideGroupsIsFoundInTheOneToWhichItGoes) {
  forks_ = 7;
  settle();
  read(11s);
  ++forks_;
  Child late;
  fake_.set_cgroup_procs("", {late.pid()});
  read();
  ASSERT_TRUE(find(late.pid()));
  EXPECT_EQ(find(late.pid())->group, kNoGroup);
  fake_.set_cgroup_procs("", {});
  fake_.set_cgroup_procs("/a", {child_.pid(), late.pid()});
  set_tasks(2);
  late.burn(5ms);
  read_moved();
  ASSERT_TRUE(find(late.pid()));
  EXPECT_NE(find(late.pid())->group, kNoGroup);
}

TEST_F(CountedDemandTest, AProcessThatWasOutsideGroupsForLongIsFoundInTheOneToWhichItGoes) {
  forks_ = 7;
  set_tasks(1);
  fake_.set_cgroup_procs("", {other_.pid()});
  settle();
  read_moved(11s);
  read_moved();
  fake_.set_cgroup_procs("", {});
  add_other();
  set_tasks(2);
  for (int second = 1; second < 4; ++second) {
    other_.burn(5ms);
    read_moved();
    EXPECT_TRUE(has_other()) << "else, its time would be counted twice, after " << second << " s";
  }
}

TEST_F(CountedDemandTest, AProcessOutsideGroupsThatHasEndedIsFoundAtOnce) {
  forks_ = 7;
  fake_.set_cgroup_procs("", {other_.pid()});
  settle();
  read(11s);
  read();
  const pid_t pid = other_.pid();
  other_.end();
  other_.reap();
  read();
  ASSERT_EQ(sample_.ended.size(), 1U);
  EXPECT_EQ(sample_.ended[0].pid, pid);
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

TEST_F(CountedDemandTest, TheFirstSampleReadsNoListsOfEmptyGroups) {
  fake_.set_cgroup_populated("/a", false);
  add_other();
  read();
  EXPECT_FALSE(has_other());
  read_moved();
  EXPECT_TRUE(has_other());
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
  read_moved();  // nobody has explained the time: the list is read, whatever the number
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

}  // namespace
}  // namespace keplerd
