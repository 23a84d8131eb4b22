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
