// SPDX-License-Identifier: Apache-2.0
// The platform in reports, on the wire and for callers without full access; its rest across restarts.
#include <gtest/gtest.h>

#include "daemon/access/public_view.h"
#include "daemon/meter_host.h"
#include "daemon/publish/report_json.h"
#include "daemon/row_json.h"
#include "ledger/state.h"
#include "support/fake_hwmon.h"
#include "varlink/json.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using varlink::Json;

// ACPI reports 100 W for the host, of which its package draws 40 W.
class PlatformTest : public testing::Test {
 protected:
  PlatformTest() {
    add_hwmon(host.files, 0, "power_meter", "ACPI000D:00", {{"power1_average", "100000000"}});
    host.begin();
  }

  const Report& run(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      host.draw(40'000'000);
      host.step();
    }
    return *host.view().report;
  }
  void set_watts(const std::string& watts) {
    host.files.write(hwmon_file(0, "power1_average"), watts + "000000\n");
  }

  static const ZoneRow* find_zone(const Report& report, std::string_view id) {
    for (const ZoneRow& zone : report.zones) {
      if (zone.zone.id == id) return &zone;
    }
    return nullptr;
  }

  MeterHost host;
  std::int64_t second_ = 0;
};

TEST_F(PlatformTest, HasARestBesideItsPackages) {
  const Report& report = run(10);
  ASSERT_TRUE(report.platform);
  EXPECT_EQ(report.platform->id, "acpi:platform:0");
  EXPECT_EQ(report.platform->energy, Microjoules{1'000'000'000});
  EXPECT_EQ(report.platform->power, Microwatts{100'000'000});
  EXPECT_EQ(report.platform->rest, Microjoules{600'000'000});
  EXPECT_EQ(report.platform->rest_power, Microwatts{60'000'000});
  EXPECT_EQ(report.host.energy, Microjoules{400'000'000}) << "the total is as before";
}

TEST_F(PlatformTest, TheRestIsAZoneThatIsNotInTheTotal) {
  const ZoneRow* const rest = find_zone(run(10), "platform:rest:0");
  ASSERT_NE(rest, nullptr);
  EXPECT_FALSE(rest->zone.in_total);
  EXPECT_TRUE(rest->current);
  EXPECT_EQ(rest->energy, Microjoules{600'000'000});
  EXPECT_EQ(rest->power, Microwatts{60'000'000});
}

TEST_F(PlatformTest, WorkloadsHaveNoPartOfIt) {
  host.files.add_cgroup("/a.service", 0);
  ASSERT_EQ(run(3).units.size(), 1u);
  std::vector<std::string> zones;
  const Json row = row_json(host.view(), RowKind::kUnits, 0);
  for (const Json& zone : row.at("zones")) zones.push_back(zone.at("id"));
  EXPECT_EQ(zones, (std::vector<std::string>{"powercap:package:0", "powercap:dram:0"}));
}

TEST_F(PlatformTest, ANegativeRestIsShownAndItsCounterWaits) {
  run(10);
  set_watts("20");
  const Report& report = run(20);
  EXPECT_EQ(report.platform->rest_power, Microwatts{-20'000'000});
  const auto rest = report.platform->rest;
  EXPECT_EQ(find_zone(report, "platform:rest:0")->power, Microwatts{});
  EXPECT_EQ(run(5).platform->rest, rest);
}

TEST_F(PlatformTest, AMeterBelowItsPartsForMinutesIsAProblem) {
  set_watts("20");
  const Report& report = run(1200);
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_EQ(report.problems[0].kind, ProblemKind::kPlatform);
  EXPECT_EQ(report.problems[0].object, "acpi:platform:0");
  EXPECT_EQ(report.problems[0].what,
            "reports 20.0 W for the whole host, but processors, memory and graphics cards draw 40.0 W");
}

TEST_F(PlatformTest, ItsRestContinuesAfterARestart) {
  run(10);
  LedgerState state = host.meter().state();
  state.clean = true;
  host.begin({}, Ledger(state, "second"), state.readings);
  EXPECT_EQ(run(5).platform->rest, Microjoules{900'000'000});
}

TEST_F(PlatformTest, WhatWasCountedEarlierIsKeptApart) {
  run(10);
  const LedgerState state = host.meter().state();
  host.begin({}, Ledger(state, "second", &state), state.readings);
  const Json json = beginning_json(run(5))["platform"];
  EXPECT_EQ(json["restMicrojoules"], 900'000'000);
  EXPECT_EQ(json["earlierRestMicrojoules"], 600'000'000);
  EXPECT_EQ(json["earlierMicrojoules"], 1'000'000'000);
}

TEST_F(PlatformTest, IsAnObjectOfItsOwnOnTheWire) {
  const Json json = beginning_json(run(90));
  EXPECT_EQ(json["platform"]["id"], "acpi:platform:0");
  EXPECT_EQ(json["platform"]["name"], "platform");
  EXPECT_EQ(json["platform"]["quality"], "modelled");
  EXPECT_EQ(json["platform"]["powerMicrowatts"], 100'000'000);
  EXPECT_EQ(json["platform"]["restMicrowatts"], 60'000'000);
  EXPECT_GT(json["platform"]["restErrorMicrowatts"], 0);
  EXPECT_LE(json["platform"]["ageUsec"], 5'000'000);
  EXPECT_FALSE(json["platform"].contains("lagUsec")) << "nothing is learned from a constant load";
  EXPECT_FALSE(json.contains("wall"));
  EXPECT_EQ(json["accounts"].size(), 4U) << "a closed set";
  EXPECT_FALSE(beginning_json(Report()).contains("platform"));
}

// A load that changes every half minute, of which 1.2 times and 50 W are drawn at the plug.
TEST_F(PlatformTest, WhatItHasLearnedSurvivesARestart) {
  const auto run_load = [this](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      const std::int64_t package = 30 + 10 * (++second_ / 30 % 7);
      set_watts(std::to_string(50 + package * 12 / 10));
      host.draw(package * 1'000'000);
      host.step();
    }
  };
  run_load(1200);
  const auto wall = host.view().report->wall;
  ASSERT_TRUE(wall);
  EXPECT_NEAR(wall->fit.slope, 1.2, 0.1);
  const auto text = format_state(host.meter().state());
  LedgerState state = *parse_state(text);
  EXPECT_EQ(format_state(state), text) << "nothing is lost in the file";
  state.clean = true;
  const auto saved = state.models;
  host.begin({}, Ledger(state, "second"), state.readings);
  host.meter().restore_models(saved);
  host.step();
  ASSERT_TRUE(host.view().report->wall);
  EXPECT_EQ(host.view().report->wall->fit, wall->fit);
  const Json json = beginning_json(*host.view().report);
  EXPECT_EQ(json["wall"]["slope"], wall->fit.slope);
  EXPECT_EQ(json["wall"]["samples"], wall->fit.samples);
}

TEST_F(PlatformTest, IsFlooredForCallersWithoutFullAccess) {
  set_watts("63");
  run(10);
  const ReportView before = host.view();
  run(1);
  const PublicTick tick{.now = host.view(), .before = before, .energies = {}, .energies_before = {}};
  const auto view = public_report(tick, PublicAccess::kHost, 1000);
  const PlatformReport& platform = *view->platform;
  EXPECT_EQ(platform.energy.value % 100'000, 0);
  EXPECT_EQ(platform.rest->value % 100'000, 0);
  EXPECT_EQ(platform.power, Microwatts{63'000'000});
  EXPECT_EQ(platform.rest_power, Microwatts{23'000'000});
  EXPECT_EQ(platform.rest_error, std::nullopt);
  EXPECT_EQ(view->wall, std::nullopt);
  EXPECT_TRUE(view->zones.empty());
}

}  // namespace
}  // namespace keplerd
