// SPDX-License-Identifier: Apache-2.0
// What doctor finds about meters, their zones and counters.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/doctor_checks.h"
#include "cli/sample_facts.h"
#include "cli/sample_replies.h"

namespace keplerd::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Doctor, AMeterThatIsNotUsedIsMarkedByAHyphen) {
  DoctorFacts facts = healthy();
  facts.meters.insert(facts.meters.begin(), {"perf", false, "no events", "", {}});
  facts.left_out = {{"hwmon:x", "is the counter of a single core"}};
  const std::string text = checks_text(check_all(facts), true);
  EXPECT_THAT(text, HasSubstr("\n-        meter perf      no events (not needed: another meter works)\n"));
  EXPECT_THAT(text, HasSubstr("\n-        no zone         hwmon:x is the counter of a single core\n"));
  EXPECT_THAT(checks_json(check_all(facts)).dump(), Not(HasSubstr("\"state\":\"-\"")));
  (*facts.status)["meters"] = Json::parse(R"([
    {"name": "perf", "usable": false, "reason": "denied", "fix": "systemctl edit keplerd"},
    {"name": "powercap", "usable": true, "inUse": true, "zones": ["powercap:package:0"]}])");
  EXPECT_THAT(checks_text(check_all(facts), false),
              HasSubstr("\n-        meter perf      denied\n"
                        "                         Hint: systemctl edit keplerd\n"
                        "ok       meter powercap  in use: powercap:package:0\n"));
}

TEST(Doctor, WhatAMeterStatesIsAProblem) {
  DoctorFacts facts = healthy();
  facts.left_out = {{.what = "meter redfish", .why = "HTTP status 401", .is_problem = true}};
  EXPECT_EQ(check_of(facts, "meter redfish").state, CheckState::kProblem);
  EXPECT_EQ(check_of(facts, "meter redfish").found, "HTTP status 401");
  EXPECT_EQ(status_of(facts), kFailed);
}

TEST(Doctor, ACardThatIsNotDividedIsShownWithTheReason) {
  DoctorFacts facts = healthy();
  EXPECT_THAT(checks_text(check_all(facts), true), Not(HasSubstr("not divided")));
  facts.zones.push_back(
      Json{{"id", "amdgpu:gpu:0"}, {"state", "running"}, {"undividedReason", "no program"}});
  EXPECT_THAT(checks_text(check_all(facts), true), HasSubstr("amdgpu:gpu:0    not divided: no program\n"));
}

TEST(Doctor, NothingMeasuredHasItsOwnStatus) {
  DoctorFacts facts = healthy();
  facts.status = simulated_status();
  EXPECT_EQ(check_of(facts, "source").state, CheckState::kWarning);
  EXPECT_EQ(check_of(facts, "source").found, "simulated; the numbers are not measured");
  EXPECT_EQ(status_of(facts), kNotMeasured);
  (*facts.status)["source"]["quality"] = "estimated";
  EXPECT_EQ(status_of(facts), kNotMeasured);
  (*facts.status)["source"]["quality"] = "modelled";
  EXPECT_EQ(status_of(facts), kFine);
  facts.status = unmeasured_status();
  EXPECT_EQ(check_of(facts, "source").state, CheckState::kProblem);
  EXPECT_EQ(check_of(facts, "source").found, "none: powercap: no zones in /sys/class/powercap");
  EXPECT_EQ(status_of(facts), kNotMeasured);
}

TEST(Doctor, TheHostsShareIsAMeterAndSaysSo) {
  DoctorFacts facts = healthy();
  (*facts.status)["source"] = {{"name", "guest"}, {"quality", "attributed"}};
  EXPECT_EQ(check_of(facts, "source").state, CheckState::kOk);
  EXPECT_EQ(check_of(facts, "source").found, "guest, attributed: the host's share for this virtual machine");
  EXPECT_EQ(status_of(facts), kFine);
  (*facts.status)["source"]["quality"] = "simulated";
  EXPECT_EQ(status_of(facts), kNotMeasured);
}

TEST(Doctor, AMeterIsAProblemOnlyWhereNoneWorks) {
  DoctorFacts facts = healthy();
  facts.meters = {{"perf", false, "no events", "modprobe x", {}},
                  {"powercap", false, "no zones", "modprobe y", {}}};
  EXPECT_EQ(check_of(facts, "meter perf").found, "no events (for you; keplerd reads its meter)");
  EXPECT_EQ(check_of(facts, "meter perf").state, CheckState::kOk);

  facts.status = unmeasured_status();
  EXPECT_EQ(check_of(facts, "meter powercap").state, CheckState::kProblem);
  EXPECT_EQ(check_of(facts, "meter powercap").found, "no zones");
  EXPECT_EQ(check_of(facts, "meter powercap").fix, "modprobe y");

  facts.meters.front().usable = true;
  EXPECT_EQ(check_of(facts, "meter powercap").state, CheckState::kOk);
  EXPECT_EQ(check_of(facts, "meter powercap").found, "no zones (not needed: another meter works)");
}

// As keplerd's reply has them.
Json daemons_meters() {
  return Json::parse(R"([
    {"name": "perf", "inUse": false, "usable": false, "reason": "perf_event_open: Permission denied",
     "fix": "systemctl edit keplerd", "zones": []},
    {"name": "powercap", "inUse": true, "usable": true, "zones": ["powercap:package:0", "powercap:dram:0"]}])");
}

TEST(Doctor, TheDaemonsViewOfMetersTakesPrecedence) {
  DoctorFacts facts = healthy();
  facts.meters = {{"perf", false, "for me it is another reason", "x", {}},
                  {"powercap", false, "/sys/x/energy_uj: Permission denied", "y", {}},
                  {"hwmon", false, "no sensor", "z", {}}};
  (*facts.status)["meters"] = daemons_meters();
  EXPECT_EQ(check_of(facts, "meter perf").found, "perf_event_open: Permission denied");
  EXPECT_EQ(check_of(facts, "meter perf").fix, "systemctl edit keplerd")
      << "it would be better than the other";
  EXPECT_EQ(check_of(facts, "meter perf").state, CheckState::kOk);
  EXPECT_EQ(check_of(facts, "meter powercap").found, "in use: powercap:package:0 powercap:dram:0");
  EXPECT_EQ(check_of(facts, "meter hwmon").found, "no sensor (for you; keplerd reads its meter)");
  EXPECT_EQ(status_of(facts), kFine);

  facts.status = unmeasured_status();
  (*facts.status)["meters"] = daemons_meters();
  EXPECT_EQ(check_of(facts, "meter perf").state, CheckState::kProblem);
}

TEST(Doctor, AnEstimateIsOfferedWhereNothingIsMeasured) {
  DoctorFacts facts = healthy();
  facts.meters = {{"powercap", false, "no zones", "", {}},
                  {"estimated", false, "not set", "Source=estimated", {}}};
  for (const Check& check : check_all(facts)) EXPECT_NE(check.name, "meter estimated");
  facts.status = unmeasured_status();
  EXPECT_EQ(check_of(facts, "meter estimated").fix, "Source=estimated");
  facts.meters[1] = {"estimated", true, "", "", {"estimated:package:0"}};
  EXPECT_EQ(check_of(facts, "meter estimated").fix,
            "Source=estimated in keplerd.conf, for an estimate from the typical power of such processors");
  (*facts.status)["source"] = {{"name", "estimated"}, {"quality", "estimated"}};
  for (const Check& check : check_all(facts)) EXPECT_NE(check.name, "meter estimated") << "it is in use";
}

TEST(Doctor, ListsMetersThatAreOnlyShownAndWhatIsNotAZone) {
  DoctorFacts facts = healthy();
  facts.shown_only = {"i915:gpu:0"};
  facts.left_out = {{"powercap intel-rapl-mmio:0", "is intel-rapl:0 again, provided by another driver"}};
  EXPECT_EQ(check_of(facts, "other meters").found, "i915:gpu:0: shown, not in the host's total");
  EXPECT_EQ(check_of(facts, "no zone").found,
            "powercap intel-rapl-mmio:0 is intel-rapl:0 again, provided by another driver");
}

TEST(Doctor, SaysWhatALateMeterCoversAndHowLateItIs) {
  DoctorFacts facts = healthy();
  facts.zones = {
      Json::parse(R"({"id": "powercap:package:0", "state": "running", "covers": "cpu"})"),
      Json::parse(R"({"id": "ipmi:psu:0", "state": "running", "covers": "platform", "ageUsec": 3000000,
                                 "lagUsec": 4500000})")};
  EXPECT_EQ(check_of(facts, "zone").found,
            "ipmi:psu:0 covers: platform, last reading 3.00 s old, lags 4.50 s behind");
  (*facts.status)["platform"] = {{"id", "ipmi:psu:0"}};
  EXPECT_THAT(check_of(facts, "zone").found, HasSubstr("; in use for the platform"));
  facts.zones[1]["state"] = "terminated";
  for (const Check& check : check_all(facts)) EXPECT_NE(check.name, "zone");
}

TEST(Doctor, APlatformBelowItsPartsIsAProblemWithAHint) {
  DoctorFacts facts = healthy();
  (*facts.status)["problems"] = Json::parse(
      R"([{"kind": "platform", "object": "ipmi:psu:0", "what": "reports 80.0 W", "sinceUsec": 1763697602300000}])");
  EXPECT_EQ(check_of(facts, "platform").state, CheckState::kProblem);
  EXPECT_EQ(check_of(facts, "platform").found, "ipmi:psu:0 reports 80.0 W, for 1min");
  EXPECT_THAT(check_of(facts, "platform").fix, HasSubstr("Zones="));
}

TEST(Doctor, FilteredCountersAreAWarning) {
  DoctorFacts facts = healthy();
  (*facts.status)["source"] = Json{{"name", "powercap"}, {"quality", "modelled"}, {"reason", "filtered"}};
  EXPECT_EQ(check_of(facts, "source").state, CheckState::kWarning);
  EXPECT_EQ(check_of(facts, "source").found, "powercap, modelled: filtered");
  EXPECT_EQ(status_of(facts), kFine);
}

// {"package", 0, 10} is a row of 10 W.
struct ZonePower {
  const char* name;
  int index;
  std::int64_t watts;
};

Check totals_of(const std::vector<ZonePower>& zones) {
  DoctorFacts facts = healthy();
  for (const ZonePower& zone : zones) {
    facts.zones.push_back(Json{{"name", zone.name},
                               {"index", zone.index},
                               {"state", "running"},
                               {"powerMicrowatts", zone.watts * 1'000'000}});
  }
  return check_of(facts, "totals");
}

TEST(Totals, ZonesInsideAPackageDrawNoMoreThanIt) {
  EXPECT_EQ(totals_of({{"package", 0, 20}, {"core", 0, 15}, {"uncore", 0, 4}}).state, CheckState::kOk);
  const Check check = totals_of({{"package", 0, 90}, {"package", 1, 20}, {"core", 1, 20}, {"uncore", 1, 4}});
  EXPECT_EQ(check.state, CheckState::kWarning);
  EXPECT_EQ(check.found, "package 1: its parts draw 24.0 W, but the whole only 20.0 W");
  EXPECT_THAT(check.fix, HasSubstr("--capture"));
}

TEST(Totals, PackagesAndMemoryDrawNoMoreThanThePlatform) {
  EXPECT_EQ(totals_of({{"psys", 0, 60}, {"package", 0, 40}, {"dram", 0, 5}}).state, CheckState::kOk);
  EXPECT_EQ(totals_of({{"psys", 0, 30}, {"package", 0, 30}, {"package", 1, 9}}).found,
            "psys: its parts draw 39.0 W, but the whole only 30.0 W");
}

TEST(Totals, StepsOfACounterAreNotAContradiction) {
  EXPECT_EQ(totals_of({{"psys", 0, 40}, {"package", 0, 43}}).state, CheckState::kOk);
  EXPECT_EQ(totals_of({{"psys", 0, 0}, {"package", 0, 2}}).state, CheckState::kOk);
}

TEST(Totals, WithoutBothNothingIsCompared) {
  EXPECT_EQ(totals_of({{"package", 0, 5}, {"dram", 0, 50}}).found, "no zone is part of another");
  EXPECT_EQ(totals_of({{"core", 0, 50}}).state, CheckState::kOk);
}

TEST(Doctor, ASimulatedSourceIsNotAMeter) {
  DoctorFacts facts = healthy();
  facts.status = unmeasured_status();
  facts.meters = {{"powercap", false, "no zones", "", {}}, {"simulated", true, "", "", {}}};
  EXPECT_EQ(check_of(facts, "meter powercap").state, CheckState::kProblem);
  for (const Check& check : check_all(facts)) EXPECT_NE(check.name, "meter simulated");
}

TEST(Doctor, CountersThatEverybodyReadsAreAHole) {
  DoctorFacts facts = healthy();
  facts.counters[0].mode = 0444;
  const Check check = check_of(facts, "counters");
  EXPECT_EQ(check.state, CheckState::kWarning);
  EXPECT_EQ(check.fix, "chmod 0400 /sys/class/powercap/intel-rapl:0/energy_uj");
  facts.counters.clear();
  EXPECT_EQ(check_of(facts, "counters").state, CheckState::kOk);
}

}  // namespace
}  // namespace keplerd::cli
