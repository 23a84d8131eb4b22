// SPDX-License-Identifier: Apache-2.0
// Whether a cgroup's list of processes is read while nobody wants them: on this host, in written cgroups.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/fake_host.h"
#include "usage/child.h"
#include "usage/process_clock.h"
#include "usage/processes_fixture.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

// Processes of this host in a written tree of cgroups, whose files say what the test wants.
class CountedDemandTest : public ProcessesTest {
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
  void burn(Child& child) {
    const auto before = read_process_clock(child.pid());
    child.burn(5ms);
    usage_ += to_usec(*read_process_clock(child.pid()) - *before);
  }
  // The process, and no other, has run in the group, as far as the group says.
  void read_moved_by(Child& child, Nanoseconds after = 1s) {
    burn(child);
    fake_.set_cgroup_usage("/a", usage_);
    read(after);
  }
  // The number of tasks is known, and that the process explains the time.
  void settle_explained() {
    settle();
    read_moved_by(child_, 11s);
    ASSERT_NE(find(child_.pid()), nullptr);
  }
  // Whether the other one was read, in this group.
  bool has_other() const {
    const ProcessUsage* other = find(other_.pid());
    return other != nullptr && other->group != kNoGroup;
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

TEST_F(CountedDemandTest, EveryTenSecondsTheListIsReadIfItDoesNotExplainTheTime) {
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

TEST_F(CountedDemandTest, TheListIsNotReadWhereItsProcessesExplainTheTime) {
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

TEST_F(CountedDemandTest, WithAnotherNumberOfTasksTheListIsReadThoughItsProcessesExplainTheTime) {
  set_tasks(1);
  settle_explained();
  add_other();
  set_tasks(2);
  read_moved_by(child_, 11s);
  EXPECT_TRUE(has_other());
}

TEST_F(CountedDemandTest, AMinuteAfterItWasReadTheListIsReadAgain) {
  set_tasks(1);
  settle_explained();
  add_other();
  read_moved_by(child_, 59s);
  EXPECT_FALSE(has_other());
  read_moved_by(child_, 10s);
  EXPECT_TRUE(has_other());
}

TEST_F(CountedDemandTest, AListThatDidNotExplainTheTimeIsReadTheNextTime) {
  set_tasks(1);
  settle_explained();
  read_moved(11s);
  add_other();
  read_moved_by(child_, 11s);
  EXPECT_TRUE(has_other());
}

TEST_F(CountedDemandTest, OneThatHasEndedIsNotReplacedByAnotherThatTheOldListNames) {
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

TEST_F(CountedDemandTest, AMinuteAfterAllClocksWereReadAllAreReadAgain) {
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

TEST_F(CountedDemandTest, AGroupThatRestedForAMinuteIsReadAsAWhole) {
  add_other();
  read();
  read_moved_by(child_, 11s);
  other_.burn(5ms);
  read(60s);
  read_moved_by(child_);
  EXPECT_NE(find(other_.pid()), nullptr);
}

TEST_F(CountedDemandTest, NewProcessesAreReadWithEachSample) {
  add_other();
  read();
  other_.burn(5ms);
  read_moved_by(child_);
  EXPECT_NE(find(other_.pid()), nullptr);
}

TEST_F(CountedDemandTest, TimeInAnotherGroupExplainsNothing) {
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

TEST_F(CountedDemandTest, OneThatRestsInAnotherGroupNowIsFoundThere) {  // though the others explain the time
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

TEST_F(CountedDemandTest, TheListIsReadIfThereAreGroupsInTheGroup) {  // whose time and tasks are its own, too
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

TEST_F(CountedDemandTest, AnOldListMovesNoProcessBack) {
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

TEST_F(CountedDemandTest, OneThatOnlyAnOldListNamedIsLookedFor) {
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

TEST_F(CountedDemandTest, TheListOfALargeGroupIsReadThoughItsProcessesExplainTheTime) {
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
