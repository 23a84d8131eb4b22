// SPDX-License-Identifier: Apache-2.0
// What need not be read because the time of a cgroup is explained: clocks of its processes, and its list.
#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "usage/written_lists_fixture.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

using ExplainedTimeTest = WrittenListsTest;

TEST_F(ExplainedTimeTest, EveryTenSecondsTheListIsReadIfItDoesNotExplainTheTime) {
  set_tasks(1);
  settle();
  read_moved();
  add_other();
  const auto before = read_process_clock(child_.pid());
  child_.burn(5ms);
  read_moved(10s);
  EXPECT_NE(find(other_.pid()), nullptr);
  ASSERT_NE(find(child_.pid()), nullptr);
  EXPECT_EQ(find(child_.pid())->before->usage, *before);
  EXPECT_EQ(std::ranges::count(sample_.processes, child_.pid(), [](const auto& p) { return p.id.pid; }), 1);
}

TEST_F(ExplainedTimeTest, TheListIsNotReadWhereItsProcessesExplainTheTime) {
  set_tasks(1);
  settle_explained();
  add_other();
  const auto before = read_process_clock(child_.pid());
  read_moved_by(child_, 11s);
  EXPECT_FALSE(has_other());
  ASSERT_NE(find(child_.pid()), nullptr);
  EXPECT_EQ(find(child_.pid())->before->usage, *before);
  read_moved_by(child_, 11s);
  EXPECT_FALSE(has_other());
}

TEST_F(ExplainedTimeTest, WithAnotherNumberOfTasksTheListIsReadThoughItsProcessesExplainTheTime) {
  set_tasks(1);
  settle_explained();
  add_other();
  set_tasks(2);
  read_moved_by(child_, 11s);
  EXPECT_TRUE(has_other());
}

TEST_F(ExplainedTimeTest, TenMinutesAfterItWasReadTheListIsReadAgain) {
  set_tasks(1);
  settle_explained();
  add_other();
  read_moved_by(child_, 599s);
  EXPECT_FALSE(has_other());
  read_moved_by(child_, 10s);
  EXPECT_TRUE(has_other());
}

TEST_F(ExplainedTimeTest, ForWhoAsksTheListIsReadAgainAfterAMinute) {
  set_tasks(1);
  settle_explained();
  add_other();
  table_->demand({});
  read_moved_by(child_, 59s);
  EXPECT_FALSE(has_other());
  read_moved_by(child_);
  EXPECT_TRUE(has_other());
}

TEST_F(ExplainedTimeTest, TheFirstQuestionReadsListsThatAreOlderThanAMinute) {
  set_tasks(1);
  settle_explained();
  add_other();
  read_moved_by(child_, 300s);
  EXPECT_FALSE(has_other());
  table_->demand({});
  read_moved_by(child_);
  EXPECT_TRUE(has_other());
}

TEST_F(ExplainedTimeTest, AListThatDidNotExplainTheTimeIsReadTheNextTime) {
  set_tasks(1);
  settle_explained();
  read_moved(11s);
  add_other();
  read_moved_by(child_, 11s);
  EXPECT_TRUE(has_other());
}

TEST_F(ExplainedTimeTest, OneThatHasEndedIsNotReplacedByAnotherThatTheOldListNames) {
  add_other();
  set_tasks(2);
  settle();
  burn(other_);
  read_moved_by(child_, 11s);
  const std::int32_t pid = other_.pid();
  other_.end();
  other_.reap();
  const Child second(pid);
  if (second.pid() < 0) GTEST_SKIP() << "pids cannot be chosen here";
  fake_.set_cgroup_procs("/a", {child_.pid()});
  read_moved_by(child_, 11s);
  EXPECT_EQ(sample_.ended.size(), 1);
  EXPECT_EQ(find(pid), nullptr);
}

TEST_F(ExplainedTimeTest, TenMinutesAfterAllClocksWereReadAllAreReadAgain) {
  add_other();
  settle_explained();
  other_.burn(5ms);
  read_moved_by(child_, 588s);
  EXPECT_EQ(find(other_.pid()), nullptr) << "it has not run, as far as the group says";
  read_moved_by(child_, 12s);
  ASSERT_NE(find(other_.pid()), nullptr);
  EXPECT_TRUE(find(other_.pid())->before);
}

TEST_F(ExplainedTimeTest, ForWhoAsksAllClocksAreReadAgainAfterAMinute) {
  add_other();
  read();
  read_moved_by(child_, 11s);
  other_.burn(5ms);
  read_moved_by(child_, 48s);
  EXPECT_EQ(find(other_.pid()), nullptr) << "it has not run, as far as the group says";
  read_moved_by(child_, 12s);
  ASSERT_NE(find(other_.pid()), nullptr);
  EXPECT_TRUE(find(other_.pid())->before);
}

TEST_F(ExplainedTimeTest, ForWhoAsksAGroupThatRestedForAMinuteIsReadAsAWhole) {
  add_other();
  read();
  read_moved_by(child_, 11s);
  other_.burn(5ms);
  read(60s);
  read_moved_by(child_);
  EXPECT_NE(find(other_.pid()), nullptr);
}

TEST_F(ExplainedTimeTest, AGroupThatRestedForTenMinutesIsReadAsAWhole) {
  add_other();
  settle_explained();
  other_.burn(5ms);
  read(10min);
  read_moved_by(child_, 11s);
  EXPECT_NE(find(other_.pid()), nullptr);
}

TEST_F(ExplainedTimeTest, NewProcessesAreReadWithEachSample) {
  add_other();
  read();
  other_.burn(5ms);
  read_moved_by(child_);
  EXPECT_NE(find(other_.pid()), nullptr);
}

TEST_F(ExplainedTimeTest, TimeInAnotherGroupExplainsNothing) {
  add_other();
  fake_.add_cgroup("/b");
  Child mover;
  fake_.set_cgroup_procs("/b", {mover.pid()});
  read();
  read_moved_by(child_, 11s);
  fake_.set_cgroup_procs("/b", {});
  fake_.set_cgroup_procs("/a", {mover.pid(), child_.pid(), other_.pid()});
  other_.burn(5ms);
  read_moved_by(mover);
  EXPECT_NE(find(mover.pid()), nullptr);
  EXPECT_NE(find(other_.pid()), nullptr);
}

TEST_F(ExplainedTimeTest, OneThatRestsInAnotherGroupNowIsFoundThere) {  // though the others explain the time
  fake_.add_cgroup("/b");
  fake_.set_cgroup_procs("/b", {other_.pid()});
  read();
  fake_.set_cgroup_usage("/b", 10'000);
  read(11s);
  fake_.set_cgroup_procs("/b", {});
  add_other();
  read_moved_by(child_);
  ASSERT_NE(find(other_.pid()), nullptr);
  EXPECT_EQ(sample_.groups[find(other_.pid())->group].path, "/a");
}

TEST_F(ExplainedTimeTest, TheListIsReadIfThereAreGroupsInTheGroup) {  // whose time and tasks are its own, too
  add_other();
  set_tasks(2);
  settle_explained();
  fake_.add_cgroup("/a/in");
  fake_.set_cgroup_procs("/a", {child_.pid()});
  fake_.set_cgroup_procs("/a/in", {other_.pid()});
  burn(other_);
  fake_.set_cgroup_usage("/a/in", 5'000);
  read_moved_by(child_, 11s);
  ASSERT_TRUE(has_other());
  EXPECT_EQ(sample_.groups[find(other_.pid())->group].path, "/a/in");
}

TEST_F(ExplainedTimeTest, TheListIsNotReadIfOnlyThreadedGroupsAreInTheGroup) {  // with its threads
  fake_.add_cgroup("/a/vcpu0");
  fake_.set_cgroup_type("/a/vcpu0", "threaded");
  fake_.set_cgroup_procs("/a", {child_.pid()});
  set_tasks(1);
  settle_explained();
  add_other();
  read_moved_by(child_, 11s);
  EXPECT_FALSE(has_other());
}

TEST_F(ExplainedTimeTest, AnOldListMovesNoProcessBack) {
  fake_.add_cgroup("/B");  // before "/a"
  add_other();
  set_tasks(2);
  settle_explained();
  fake_.set_cgroup_procs("/B", {other_.pid()});
  fake_.set_cgroup_usage("/B", 5'000);
  table_->demand({});
  read();
  ASSERT_TRUE(has_other());
  EXPECT_EQ(sample_.groups[find(other_.pid())->group].path, "/B");
  read_moved_by(child_);
  EXPECT_EQ(find(other_.pid()), nullptr);
}

TEST_F(ExplainedTimeTest, OneThatIsPassedOverIsFoundInTheGroupToWhichItHasMoved) {
  fake_.add_cgroup("/b");  // after "/a"
  add_other();
  set_tasks(2);
  settle_explained();
  read_moved_by(child_, 11s);
  fake_.set_cgroup_procs("/a", {child_.pid()});  // with another thread
  fake_.set_cgroup_procs("/b", {other_.pid()});
  const auto before = read_process_clock(other_.pid());
  other_.burn(5ms);
  fake_.set_cgroup_usage("/b", 5'000);
  read_moved_by(child_, 11s);
  ASSERT_TRUE(has_other());
  EXPECT_EQ(sample_.groups[find(other_.pid())->group].path, "/b");
  ASSERT_TRUE(find(other_.pid())->before);
  EXPECT_EQ(find(other_.pid())->before->usage, *before);
}

TEST_F(ExplainedTimeTest, OneThatWasPassedOverAndMovesBetweenTwoListsIsReadOnce) {
  fake_.add_cgroup("/b");
  add_other();
  set_tasks(2);
  settle_explained();
  read_moved_by(child_, 11s);
  set_tasks(3);  // its list is read again
  fake_.set_cgroup_procs("/b", {other_.pid()});
  fake_.set_cgroup_usage("/b", 5'000);
  burn(other_);
  read_moved_by(child_, 11s);
  EXPECT_EQ(std::ranges::count(sample_.processes, other_.pid(), [](const auto& p) { return p.id.pid; }), 1);
}

TEST_F(ExplainedTimeTest, OneThatHasEndedIsNotPassedOverAfterAllAreListed) {
  add_other();
  set_tasks(2);
  settle_explained();
  read_moved_by(child_, 11s);
  const std::int32_t pid = other_.pid();
  other_.end();
  other_.reap();
  read_moved_by(child_, 11s);
  EXPECT_TRUE(sample_.ended.empty()) << "nothing says that it has";
  table_->demand({});
  read_moved_by(child_, 11s);
  EXPECT_EQ(times_ended(pid), 1);
  EXPECT_EQ(times_ended(child_.pid()), 0);
}

TEST_F(ExplainedTimeTest, OneThatOnlyAnOldListNamedIsLookedFor) {
  add_other();
  set_tasks(2);
  settle_explained();
  Child third;  // instead of the other one, which rests elsewhere now
  fake_.set_cgroup_procs("/a", {child_.pid(), third.pid()});
  burn(third);
  read_moved_by(child_);
  read_moved_by(child_, 11s);
  read(11s);
  ASSERT_NE(find(other_.pid()), nullptr);
  EXPECT_EQ(find(other_.pid())->group, kNoGroup);
}

TEST_F(ExplainedTimeTest, TheListOfALargeGroupIsReadThoughItsProcessesExplainTheTime) {
  const std::array<Child, 32> more;
  std::vector<pid_t> pids{child_.pid()};
  for (const Child& one : more) pids.push_back(one.pid());
  fake_.set_cgroup_procs("/a", pids);
  set_tasks(33);
  settle_explained();
  pids.push_back(other_.pid());
  fake_.set_cgroup_procs("/a", pids);
  read_moved_by(child_, 11s);
  EXPECT_TRUE(has_other());
}

}  // namespace
}  // namespace keplerd
