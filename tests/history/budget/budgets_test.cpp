// SPDX-License-Identifier: Apache-2.0
#include "history/budget/budgets.h"

#include <gmock/gmock.h>

#include "history/recorded_host.h"

namespace keplerd::history {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class BudgetsTest : public RecordedHost {
 protected:
  void watch(std::initializer_list<const char*> texts) {
    std::vector<Budget> parsed;
    for (const char* text : texts) parsed.push_back(*parse_budget(text));
    budgets.emplace(
        parsed,
        [this](const BudgetUse& use, int percent) {
          crossed.push_back(use.budget.text + ": " + std::to_string(percent));
        },
        [this](const Budget& budget, const std::string& reason) {
          problems.push_back(budget.text + ": " + reason);
        });
    recorder->on_written([this](Time time) { budgets->check(recorder->store(), time); });
  }
  // What a workload uses in the five minutes that end now.
  void use(std::int64_t energy, const std::string& unit = "/a.service", uid_t owner = 0) {
    now += 5min;
    workload(Kind::kUnits, unit, owner).now.active += Microjoules{energy};
    accounts.workloads += Microjoules{energy};
    read();
  }
  std::int64_t used(std::size_t index = 0) { return budgets->uses().at(index).used.value; }

  std::optional<Budgets> budgets;
  std::vector<std::string> crossed, problems;
};

TEST_F(BudgetsTest, AreReportedOnceAt80AndAt100Percent) {
  watch({"1000uJ/day unit /a.service"});
  read();
  use(799);
  EXPECT_THAT(crossed, IsEmpty());
  use(1);
  EXPECT_THAT(crossed, ElementsAre("1000uJ/day unit /a.service: 80"));
  use(199);
  use(1);
  use(5000);
  EXPECT_THAT(crossed, ElementsAre("1000uJ/day unit /a.service: 80", "1000uJ/day unit /a.service: 100"));
  EXPECT_EQ(used(), 6000);
}

TEST_F(BudgetsTest, OfTwoPercentagesAtOnceTheHigherIsReported) {
  watch({"1000uJ/day unit /a.service"});
  read();
  use(1000);
  use(1000);
  EXPECT_THAT(crossed, ElementsAre("1000uJ/day unit /a.service: 100"));
}

TEST_F(BudgetsTest, AreReportedOnceAlsoIfRestarted) {
  watch({"1000uJ/day unit /a.service"});
  read();
  use(900);
  open();
  watch({"1000uJ/day unit /a.service"});
  use(10);
  EXPECT_EQ(used(), 910);
  EXPECT_THAT(crossed, ElementsAre("1000uJ/day unit /a.service: 80"));
}

TEST_F(BudgetsTest, BeginAgainWithEachPeriod) {
  watch({"1000uJ/hour unit /a.service", "10000uJ/day host"});
  read();
  for (int hour = 0; hour < 2; ++hour) {
    for (int i = 0; i < 12; ++i) use(100);
  }
  use(100);
  const std::string hour = "1000uJ/hour unit /a.service: ";
  EXPECT_THAT(crossed, ElementsAre(hour + "80", hour + "100", hour + "80", hour + "100"));
  EXPECT_EQ(used(0), 100);
  EXPECT_EQ(used(1), 2500);
}

TEST_F(BudgetsTest, TheLastMinutesOfAPeriodCount) {
  watch({"1000uJ/hour unit /a.service"});
  read();
  for (int i = 0; i < 12; ++i) use(90);
  EXPECT_THAT(crossed, ElementsAre("1000uJ/hour unit /a.service: 80", "1000uJ/hour unit /a.service: 100"));
  EXPECT_EQ(used(), 0) << "the next hour has begun";
}

TEST_F(BudgetsTest, NobodyUsesUpTheBudgetOfTheSystemWithAWorkloadOfTheSameName) {
  watch({"1000uJ/day unit web.service"});
  workload(Kind::kUnits, "/system.slice/web.service").name = "web.service";
  workload(Kind::kUnits, "user-1000/web.service", 1000).name = "web.service";
  read();
  use(900, "user-1000/web.service", 1000);
  use(10, "/system.slice/web.service");
  EXPECT_EQ(used(), 10);
  EXPECT_THAT(crossed, IsEmpty()) << "although the system's has used nothing at first";
}

TEST_F(BudgetsTest, ANameOfSeveralUsersIsAProblem) {
  watch({"1000uJ/day unit web.service"});
  for (const uid_t user : {1000u, 1001u}) {
    const std::string id = "user-" + std::to_string(user) + "/web.service";
    workload(Kind::kUnits, id, user).name = "web.service";
  }
  read();
  use(900, "user-1000/web.service", 1000);
  use(900, "user-1001/web.service", 1001);
  const std::string reason = "several users have a workload with this name: use its id";
  EXPECT_EQ(budgets->uses()[0].problem, reason);
  EXPECT_EQ(used(), 0);
  use(1, "user-1000/web.service", 1000);
  EXPECT_THAT(problems, ElementsAre("1000uJ/day unit web.service: " + reason)) << "it is reported once";
}

TEST_F(BudgetsTest, OneThatEndedBeforeThePeriodIsNotAmongThoseOfTheName) {
  watch({"1000uJ/hour unit web.service"});
  for (const uid_t user : {1000u, 1001u})
    workload(Kind::kUnits, "user-" + std::to_string(user) + "/web.service", user).name = "web.service";
  read();
  use(900, "user-1000/web.service", 1000);
  now += 2h;
  read();
  use(300, "user-1001/web.service", 1001);
  EXPECT_EQ(used(), 300);
  EXPECT_EQ(find_workloads(recorder->store().database(), Kind::kUnits, "web.service", now - 1h).size(), 1u);
}

TEST_F(BudgetsTest, AVirtualMachineThatWasDefinedAgainHasOneBudget) {
  watch({"1000uJ/day vm web"});
  workload(Kind::kVms, "uuid-1").name = "web";
  workload(Kind::kVms, "uuid-2").name = "web";
  read();
  for (const char* id : {"uuid-1", "uuid-2"}) {
    now += 5min;
    workload(Kind::kVms, id).now.active += Microjoules{400};
    read();
  }
  EXPECT_EQ(used(), 800);
}

TEST_F(BudgetsTest, AUserHasAllOfItsUnitsButNothingTwice) {
  watch({"1000uJ/day user 1000", "1000uJ/day user nobody-of-this-name"});
  workload(Kind::kUnits, "/u.slice", 1000);
  workload(Kind::kUnits, "/u.slice/a.service", 1000);
  read();
  workload(Kind::kUnits, "/u.slice", 1000).now.active += Microjoules{300};
  use(300, "/u.slice/a.service", 1000);
  EXPECT_EQ(used(0), 300);
  EXPECT_EQ(budgets->uses()[1].problem, "there is no such user");
}

TEST_F(BudgetsTest, EnergyOfAnInterruptionCountsInThePeriodThatContainsIt) {
  watch({"1uJ/hour unit /a.service", "1000uJ/day unit /a.service"});
  read();
  now += 3h;
  draw("/a.service", 900);
  read();
  EXPECT_EQ(used(0), 0);
  EXPECT_EQ(used(1), 900);
  EXPECT_THAT(crossed, ElementsAre("1000uJ/day unit /a.service: 80"));
}

}  // namespace
}  // namespace keplerd::history
