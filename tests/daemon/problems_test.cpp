// SPDX-License-Identifier: Apache-2.0
#include "daemon/problems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ProblemsTest : public testing::Test {
 protected:
  ProblemsTest() { next(); }

  // The next report of a healthy host.
  Report& next() {
    report_ = std::make_unique<Report>();
    report_->realtime = Realtime(++time_);
    report_->source.name = "powercap";
    report_->window = std::chrono::seconds(1);
    report_->host.power = Microwatts{5};
    ZoneRow& zone = report_->zones.emplace_back();
    zone.zone.id = "powercap:package:0";
    zone.zone.in_total = true;
    return *report_;
  }
  // From the current report: "KIND OBJECT since SINCE".
  std::vector<std::string> found() {
    problems.add_to(*report_);
    std::vector<std::string> found;
    for (const Problem& problem : report_->problems)
      found.push_back(std::string(problem_kind_name(problem.kind)) + " " + problem.object + " since " +
                      std::to_string(problem.since.count()));
    return found;
  }

  Problems problems;

 private:
  std::unique_ptr<Report> report_;
  int time_ = 0;
};

TEST_F(ProblemsTest, AHostThatIsFineHasNone) { EXPECT_THAT(found(), IsEmpty()); }

TEST_F(ProblemsTest, AZoneThatCannotBeReadIsOneSinceItCould) {
  for (int i = 0; i < 3; ++i) {
    next().zones[0].problem = "no such device";
    EXPECT_THAT(found(), ElementsAre("zone powercap:package:0 since 2"));
  }
  next();
  EXPECT_THAT(found(), IsEmpty());
  next().zones[0].problem = "no such device";
  EXPECT_THAT(found(), ElementsAre("zone powercap:package:0 since 6"));
}

TEST_F(ProblemsTest, AZoneOfAnEarlierSourceIsNone) {
  next().zones[0].problem = "no such device";
  Report& report = next();
  report.zones[0].problem = "no such device";
  report.zones[0].current = false;
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(ProblemsTest, WithoutAReadingOfTheTotalThePowerIsNotKnown) {
  Report& report = next();
  report.zones[0].problem = "no such device";
  report.host.power.reset();
  EXPECT_THAT(found(), ElementsAre("zone powercap:package:0 since 2", "power  since 2"));
}

TEST_F(ProblemsTest, OneWindowMayHaveNoPower) {
  EXPECT_THAT(found(), IsEmpty());
  next().host.power.reset();
  EXPECT_THAT(found(), IsEmpty());
  next().host.power.reset();
  EXPECT_THAT(found(), ElementsAre("power  since 3"));
}

TEST_F(ProblemsTest, WindowsThatAreTooShortForPowerChangeNothing) {
  for (int i = 0; i < 3; ++i) {
    Report& report = next();
    report.window = std::chrono::milliseconds(10);
    report.host.power.reset();
    EXPECT_THAT(found(), IsEmpty());
  }
  for (int i = 0; i < 2; ++i) {
    next().host.power.reset();
    found();
  }
  Report& report = next();
  report.window = std::chrono::milliseconds(10);
  report.host.power.reset();
  EXPECT_THAT(found(), ElementsAre("power  since 6")) << "it is still not known";
}

TEST_F(ProblemsTest, WithoutASourceTheSourceIsTheProblemAndNotThePower) {
  for (int i = 0; i < 3; ++i) {
    Report& report = next();
    report.source = {.name = "none", .quality = {}, .reason = "no meter works", .tried = {}};
    report.host.power.reset();
    EXPECT_THAT(found(), ElementsAre("source  since 2"));
    EXPECT_EQ(report.problems[0].what, "no meter works");
  }
}

TEST_F(ProblemsTest, LimitsThatAreReachedAreProblems) {
  Report& report = next();
  report.groups_left_out = 3;
  report.processes_left_out = 4;
  EXPECT_THAT(found(), ElementsAre("cgroups  since 2", "processes  since 2"));
}

TEST_F(ProblemsTest, WhatNoSampleShowsIsThereUntilItIsTakenBack) {
  problems.set(ProblemKind::kState, "disk full");
  EXPECT_THAT(found(), ElementsAre("state  since 1"));
  next();
  problems.set(ProblemKind::kState, "still full");
  EXPECT_THAT(found(), ElementsAre("state  since 1"));
  next();
  problems.set(ProblemKind::kState, std::nullopt);
  EXPECT_THAT(found(), IsEmpty());
}

}  // namespace
}  // namespace keplerd
