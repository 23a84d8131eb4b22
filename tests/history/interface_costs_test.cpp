// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "history/interface_host.h"

namespace keplerd::history {
namespace {

using namespace std::chrono_literals;
using varlink::Json;

TEST_F(HistoryInterface, CostsOfRowsAndAccountsAddUpToThatOfTheHost) {
  set_costs("[Cost]\nCurrency=EUR\nPrice=100000\nPrice=700001.3 12:00-13:00\n[Carbon]\nIntensity=999999\n");
  record();
  for (const char* const by : {"unit", "slice", "user", "vm"}) {
    const Json reply = call("Report", period(kNoon, now, {{"by", by}})).parameters;
    EXPECT_EQ(reply.at("currency"), "EUR");
    EXPECT_FALSE(reply.contains("meanRateUsec"));
    for (const char* const name : {"costMicro", "milligramsCO2e"}) {
      std::int64_t sum = 0;
      for (const Json& row : reply.at("rows")) sum += row.at(name).get<std::int64_t>();
      for (const Json& account : reply.at("accountCosts")) sum += account.at(name).get<std::int64_t>();
      EXPECT_EQ(sum, reply.at(name)) << by << name;
    }
  }
  // 66 250 uJ an hour; a kWh is 3.6e12 uJ.
  const Json reply = call("Report", period(kNoon, now, {{"by", "vm"}})).parameters;
  EXPECT_EQ(reply.at("costMicro"), 16'563) << "66250 uJ * (700001.3 + 2 * 100000) / 3.6";
}

TEST_F(HistoryInterface, TheHistoryHasTheCostOfEachSpan) {
  set_costs("[Cost]\nCurrency=EUR\nPrice=1000000\nPrice=0 12:00-13:00\n");
  record();
  const auto replies = query(period(kNoon, now, {{"kind", "vms"}, {"step", "hour"}}));
  ASSERT_EQ(replies.size(), 3u);
  EXPECT_EQ(replies[0].at("costMicro"), 0);
  EXPECT_EQ(replies[1].at("costMicro"), 18'403);
  EXPECT_EQ(replies[1].at("rows")[0].at("costMicro"), 69);
  EXPECT_FALSE(replies[1].contains("milligramsCO2e"));
}

TEST_F(HistoryInterface, OthersSeeTheCostsOfTheirOwnWorkloadsOnly) {
  set_costs("[Cost]\nCurrency=EUR\nPrice=1000000\n");
  record();
  viewer = {.user = 1000};
  const Json report = call("Report", period(kNoon, now, {{"by", "unit"}})).parameters;
  EXPECT_EQ(report.at("rows")[0].at("costMicro"), 208);
  EXPECT_FALSE(report.contains("costMicro"));
  EXPECT_FALSE(report.contains("accountCosts"));
  EXPECT_FALSE(query(period(kNoon, now, {{"kind", "vms"}, {"step", "day"}}))[0].contains("costMicro"));
}

TEST_F(HistoryInterface, AnErrorInTheRatesIsReportedAndEnergyIsShown) {
  set_costs("[Cost]\nPrice=1\n");
  record();
  const Json reply = call("Report", period(kNoon, now, {{"by", "vm"}})).parameters;
  EXPECT_EQ(reply.at("ratesProblem"), cost_config + ":2: Price= needs Currency= in section [Cost]");
  EXPECT_FALSE(reply.contains("costMicro"));
  EXPECT_TRUE(reply.contains("energyMicrojoules"));
}

TEST_F(HistoryInterface, EmbodiedEmissionsAreOfTheTimeThatIsRecorded) {
  set_costs("[Carbon]\nEmbodiedGrams=1000\nLifetime=3000h\n");
  record();
  EXPECT_EQ(call("Report", period(kNoon - 24h, now, {{"by", "vm"}})).parameters.at("embodiedMilligramsCO2e"),
            1000);
}

}  // namespace
}  // namespace keplerd::history
