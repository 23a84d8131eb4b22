// SPDX-License-Identifier: Apache-2.0
// Groups are made for wanted cgroups, and never taken from others.
#include "meters/resctrl/made_groups.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meters/resctrl/threads.h"
#include "resctrl/fake_group_files.h"

namespace keplerd::resctrl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class MadeGroupsTest : public testing::Test {
 protected:
  MadeGroupsTest() {
    files_.set_rmids(100);
    cgroup("a.service", {10, 11});
    cgroup("b.service", {20});
    cgroup("b.service/inner", {21});
    cgroup("empty.service", {});
  }
  void cgroup(const std::string& path, const std::vector<int>& threads) {
    fake_.add_cgroup("/" + path);
    fake_.write("cgroup/" + path + "/cgroup.threads", Tree::lines(threads));
    for (const int thread : threads)
      if (!read_membership(host_, thread)) files_.note_membership(thread, "");
  }
  std::uint64_t identity(const std::string& path) const {
    return *read_identity(*host_.cgroupfs(), path.c_str());
  }
  std::string name(const std::string& path) const { return fmt::format("keplerd-{}", identity(path)); }
  MadeGroups::Outcome follow(const std::vector<std::string>& paths, bool are_named = true) {
    std::vector<meters::WantedCgroup> wanted;
    for (const std::string& path : paths) wanted.push_back({path, identity(path), are_named});
    return made_.follow(wanted);
  }

  FakeHost fake_;
  HostRoot host_ = fake_.open();
  FakeGroupFiles files_{fake_};
  MadeGroups made_{host_, files_};
};

using Groups = std::map<std::string, std::set<int>>;

TEST_F(MadeGroupsTest, HaveTheThreadsOfTheCgroupAndOfThoseBelowIt) {
  const auto outcome = follow({"a.service", "b.service", "empty.service"});
  EXPECT_EQ(outcome.made, 2U);
  EXPECT_EQ(outcome.problem, "");
  EXPECT_EQ(files_.groups, (Groups{{name("a.service"), {10, 11}}, {name("b.service"), {20, 21}}}));
}

TEST_F(MadeGroupsTest, FollowThreadsThatComeAndLeave) {
  follow({"a.service"});
  cgroup("a.service", {11, 12});
  follow({"a.service"});
  EXPECT_EQ(files_.groups, (Groups{{name("a.service"), {11, 12}}}));
  cgroup("a.service", {11, 12, 13, 14, 15});
  files_.ended = {13};
  std::filesystem::remove_all(fake_.paths().procfs + "/15");
  EXPECT_EQ(follow({"a.service"}).problem, "") << "one that has ended meanwhile is no problem";
  EXPECT_EQ(files_.groups.at(name("a.service")), (std::set<int>{11, 12, 14}));
}

TEST_F(MadeGroupsTest, AreRemovedOnceNobodyWantsThem) {
  follow({"a.service", "b.service"});
  EXPECT_EQ(follow({"b.service"}).made, 1U);
  EXPECT_EQ(files_.groups, (Groups{{name("b.service"), {20, 21}}}));
  cgroup("b.service", {});
  cgroup("b.service/inner", {});
  EXPECT_EQ(follow({"b.service"}).made, 0U) << "it holds nothing";
  EXPECT_THAT(files_.groups, IsEmpty());
}

TEST_F(MadeGroupsTest, ThoseOfAnEarlierRunAreKeptOrRemoved) {
  follow({"a.service", "b.service"});
  MadeGroups again(host_, files_);
  again.follow({{"a.service", identity("a.service"), true}});
  EXPECT_EQ(files_.groups, (Groups{{name("a.service"), {10, 11}}}));
  files_.add("mine", {77});
  EXPECT_TRUE(again.remove_all());
  EXPECT_EQ(files_.groups, (Groups{{"mine", {77}}}));
}

TEST_F(MadeGroupsTest, ThreadsOfOthersGroupsStayThere) {
  files_.add("libvirt", {21});
  const auto outcome = follow({"a.service", "b.service"});
  EXPECT_THAT(outcome.others, ElementsAre("b.service"));
  EXPECT_EQ(files_.groups, (Groups{{"libvirt", {21}}, {name("a.service"), {10, 11}}}));
  files_.add("later", {});
  EXPECT_TRUE(files_.move(10, "later"));
  EXPECT_THAT(follow({"a.service"}).others, ElementsAre("a.service"));
  EXPECT_EQ(files_.groups, (Groups{{"libvirt", {21}}, {"later", {10}}})) << "ours is removed, too";
}

TEST_F(MadeGroupsTest, ThreadsOfControlGroupsStayThere) {
  Tree tree(fake_, 0);
  tree.add("web");
  tree.set_tasks("web", {20});
  EXPECT_THAT(follow({"b.service"}).others, ElementsAre("b.service"));
  EXPECT_THAT(files_.groups, IsEmpty());
}

TEST_F(MadeGroupsTest, AThreadThatSomebodyElseTakesMeanwhileStaysThere) {
  files_.add("libvirt", {});
  files_.before_make = [this] {
    EXPECT_TRUE(files_.move(10, "libvirt"));
    files_.note_membership(11, "", "web");
  };
  EXPECT_EQ(follow({"a.service"}).problem, "");
  EXPECT_EQ(files_.groups, (Groups{{"libvirt", {10}}, {name("a.service"), {}}}));
}

TEST_F(MadeGroupsTest, AThreadThatSomebodyElseHasTakenFromOursIsNotTakenBack) {
  follow({"a.service"});
  files_.note_membership(10, "", "web");  // after its list of tasks was read
  cgroup("a.service", {11});
  follow({"a.service"});
  EXPECT_TRUE(files_.groups.at(name("a.service")).contains(10)) << "not moved: it would leave that group";
}

TEST_F(MadeGroupsTest, NothingIsChangedIfTheThreadsOfAGroupCannotBeRead) {
  follow({"a.service"});
  const Groups before = files_.groups;
  Tree tree(fake_, 0);
  for (const std::string group : {"mon_groups/libvirt", "web"}) {
    tree.add(group);
    const std::string tasks = fake_.paths().sysfs + "/fs/resctrl/" + group + "/tasks";
    std::filesystem::remove(tasks);
    std::filesystem::create_directory(tasks);  // EISDIR
    EXPECT_THAT(follow({"b.service"}).problem, HasSubstr(group + "/tasks: Is a directory"));
    EXPECT_EQ(files_.groups, before);
    std::filesystem::remove(tasks);
    EXPECT_EQ(follow({"a.service"}).problem, "") << "it is gone";
  }
}

TEST_F(MadeGroupsTest, AKernelThatDoesNotShowTheGroupsOfThreadsIsAProblem) {
  for (const int thread : {10, 11}) fake_.remove(fmt::format("proc/{}/cpu_resctrl_groups", thread));
  EXPECT_THAT(follow({"a.service"}).problem, HasSubstr("/proc/10/cpu_resctrl_groups: No such file"));
  EXPECT_THAT(files_.groups.at(name("a.service")), IsEmpty());
}

TEST_F(MadeGroupsTest, AThreadOfWhichTheGroupIsNotKnownStaysWhereItIs) {
  fake_.write("proc/10/cpu_resctrl_groups", "res:\nmon:\n");
  EXPECT_THAT(follow({"a.service"}).problem, HasSubstr("/proc/10/cpu_resctrl_groups: no group"));
  EXPECT_EQ(files_.groups, (Groups{{name("a.service"), {11}}}));
}

TEST_F(MadeGroupsTest, AreAsManyAsTheHardwareHas) {
  files_.most = 1;
  const auto outcome = follow({"a.service", "b.service"});
  EXPECT_EQ(outcome.made, 1U);
  EXPECT_EQ(outcome.refused, 1U);
  EXPECT_EQ(outcome.problem, "") << "which is reported once, as a count";
  EXPECT_EQ(files_.groups, (Groups{{name("a.service"), {10, 11}}}));
}

TEST_F(MadeGroupsTest, WaitForRmidsThatAreStillInUse) {
  files_.most = 1;
  files_.stays_in_limbo = true;
  follow({"a.service"});
  auto outcome = follow({"b.service"});
  EXPECT_EQ(outcome.made, 0U);
  EXPECT_EQ(outcome.refused, 0U) << "there will be one";
  EXPECT_EQ(outcome.waiting, 1U);
  EXPECT_EQ(outcome.problem, "");
  files_.in_limbo = 0;
  EXPECT_EQ(follow({"b.service"}).made, 1U);
}

// One for the default group, one for a control group, two for the groups of others inside them.
TEST_F(MadeGroupsTest, TheLargestLeaveHalfOfThemToOthers) {
  files_.add("mine", {});
  Tree tree(fake_, 0);
  for (const char* const group : {"web", "web/mon_groups/db"}) tree.add(group);
  files_.set_rmids(8);
  EXPECT_EQ(follow({"a.service", "b.service"}, false).made, 0U);
  files_.set_rmids(10);
  const auto outcome = follow({"a.service", "b.service"}, false);
  EXPECT_EQ(outcome.made, 1U);
  EXPECT_EQ(outcome.refused, 0U) << "the hardware has more";
  fake_.write("sys/fs/resctrl/info/PERF_PKG_MON/num_rmids", "8\n");
  EXPECT_EQ(follow({"a.service", "b.service"}, false).made, 0U) << "the fewest of all kinds";
}

TEST_F(MadeGroupsTest, ALargeOneKeepsItsGroupUntilItIsFarDownInTheList) {
  for (int i = 0; i < 6; ++i) cgroup(fmt::format("{}.service", i), {100 + i});
  const auto has = [this](std::vector<int> numbers) {
    std::vector<std::string> paths;
    for (const int number : numbers) paths.push_back(fmt::format("{}.service", number));
    EXPECT_EQ(follow(paths, false).made, 2U);
    std::set<int> threads;
    for (const auto& [group, tasks] : files_.groups) threads.insert(tasks.begin(), tasks.end());
    return threads;
  };
  files_.set_rmids(6);
  EXPECT_EQ(has({0, 1, 2, 3, 4, 5}), (std::set<int>{100, 101}));
  EXPECT_EQ(has({2, 3, 1, 0, 4, 5}), (std::set<int>{101, 102})) << "the third of two may stay";
  EXPECT_EQ(has({4, 2, 5, 1, 3, 0}), (std::set<int>{102, 104}));
}

TEST_F(MadeGroupsTest, ALargeOneYieldsToOneThatIsNamed) {
  files_.most = 1;
  follow({"b.service"}, false);
  EXPECT_EQ(files_.groups, (Groups{{name("b.service"), {20, 21}}}));
  const auto outcome =
      made_.follow({{"a.service", identity("a.service"), true}, {"b.service", identity("b.service"), false}});
  EXPECT_EQ(files_.groups, (Groups{{name("a.service"), {10, 11}}}));
  EXPECT_EQ(outcome.made, 1U);
  EXPECT_EQ(outcome.refused, 1U);
}

TEST_F(MadeGroupsTest, WithoutResctrlThereIsAReason) {
  std::filesystem::remove_all(fake_.paths().sysfs + "/fs/resctrl");
  EXPECT_THAT(follow({"a.service"}).problem, HasSubstr("/sys/fs/resctrl/mon_groups"));
}

// Cgroups get other threads, others' groups come and go, hardware runs out: no thread of others is moved, and
// each of ours has the threads of its cgroup.
TEST_F(MadeGroupsTest, NeverTakeWhatIsOthersWhateverHappens) {
  std::mt19937 random(24);
  const auto below = [&](int most) { return std::uniform_int_distribution<int>(0, most - 1)(random); };
  const std::vector<std::string> paths{"a.service", "b.service", "empty.service"};
  std::size_t made = 0, others = 0, refused = 0;
  for (int i = 0; i < 500; ++i) {
    std::map<std::string, std::set<int>> threads;
    for (int thread = 1; thread < 12; ++thread)
      if (below(4) != 0) threads[paths[static_cast<std::size_t>(below(3))]].insert(thread);
    for (const std::string& path : paths)
      cgroup(path, std::vector<int>(threads[path].begin(), threads[path].end()));
    cgroup("b.service/inner", {});
    files_.most = static_cast<std::size_t>(1 + below(4));
    if (below(5) == 0 && files_.groups.size() < files_.most && !files_.groups.contains("foreign")) {
      files_.add("foreign", {});
      EXPECT_TRUE(files_.move(1 + below(11), "foreign"));
    }
    if (below(5) == 0 && files_.groups.contains("foreign")) {
      EXPECT_TRUE(files_.remove("foreign"));
    }
    const std::set<int> foreign =
        files_.groups.contains("foreign") ? files_.groups.at("foreign") : std::set<int>();
    std::vector<std::string> wanted;
    for (const std::string& path : paths)
      if (below(3) != 0) wanted.push_back(path);
    const auto outcome = follow(wanted);
    made += outcome.made;
    others += outcome.others.size();
    refused += outcome.refused;
    ASSERT_EQ(outcome.problem, "");
    if (files_.groups.contains("foreign")) {
      ASSERT_EQ(files_.groups.at("foreign"), foreign);
    }
    std::size_t own = 0;
    for (const std::string& path : paths) {
      const auto group = files_.groups.find(name(path));
      if (group == files_.groups.end()) continue;
      ++own;
      ASSERT_EQ(group->second, threads[path]) << i;
      ASSERT_TRUE(std::ranges::count(wanted, path) == 1);
    }
    ASSERT_EQ(own, outcome.made);
    ASSERT_EQ(own + (files_.groups.contains("foreign") ? 1U : 0U), files_.groups.size());
  }
  EXPECT_GT(made, 200U);
  EXPECT_GT(others, 20U);
  EXPECT_GT(refused, 20U);
}

}  // namespace
}  // namespace keplerd::resctrl
