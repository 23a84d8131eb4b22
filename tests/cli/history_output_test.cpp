// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <ctime>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/fleet/reports.h"
#include "cli/history/costs.h"
#include "cli/history/output.h"
#include "varlink/json.h"

namespace keplerd::cli::history {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using varlink::Json;

constexpr std::int64_t kHour = 3'600'000'000;

class HistoryOutput : public testing::Test {
 protected:
  HistoryOutput() {
    ::setenv("TZ", "UTC0", 1);
    ::tzset();
  }
  ~HistoryOutput() override {
    ::unsetenv("TZ");
    ::tzset();
  }

  static Json span(int hour, std::int64_t recorded, std::int64_t energy, Json rows = Json::array()) {
    return {{"fromUsec", 1'795'500'000'000'000 + hour * kHour},
            {"toUsec", 1'795'500'000'000'000 + (hour + 1) * kHour},
            {"recordedUsec", recorded},
            {"energyMicrojoules", energy},
            {"accounts",
             {{"idle", energy / 4}, {"kernel", 0}, {"workloads", energy - energy / 4}, {"unattributed", 0}}},
            {"rows", std::move(rows)}};
  }
  static Json row(const std::string& id, const std::string& name, std::int64_t energy) {
    return {{"id", id},
            {"name", name},
            {"kind", "vms"},
            {"energyMicrojoules", energy},
            {"activeMicrojoules", energy},
            {"idleMicrojoules", 0}};
  }
  static Json report() {
    return {
        {"fromUsec", 1'795'500'000'000'000},
        {"toUsec", 1'795'500'000'000'000 + 2 * kHour},
        {"recordedUsec", 2 * kHour},
        {"unrecordedUsec", 0},
        {"energyMicrojoules", 3'600'000'000},
        {"accounts", {{"idle", 1'800'000'000}, {"kernel", 0}, {"unattributed", 0}, {"other", 600'000'000}}},
        {"rows", Json::array({row("u1", "web", 900'000'000), row("u2", "=db", 300'000'000)})}};
  }
  // As keplerd-history adds them.
  static Json priced(Json object, std::int64_t cost, std::int64_t carbon) {
    object["costMicro"] = cost;
    object["milligramsCO2e"] = carbon;
    return object;
  }
  static Json in_euros(Json reply) {
    reply["currency"] = "EUR";
    return reply;
  }
  static Json priced_report() {
    Json reply = in_euros(priced(report(), 320, 380));
    reply["rows"][0] = priced(reply["rows"][0], 80, 95);
    reply["rows"][1] = priced(reply["rows"][1], 27, 32);
    reply["accountCosts"] = {{"idle", priced(Json::object(), 160, 190)},
                             {"kernel", priced(Json::object(), 0, 0)},
                             {"unattributed", priced(Json::object(), 0, 0)},
                             {"other", priced(Json::object(), 53, 63)}};
    return reply;
  }
};

TEST_F(HistoryOutput, TheHostIsARowForEachSpan) {
  const Json history = history_json({"host", ""}, {span(0, kHour, 4'000'000), span(1, 0, 0)});
  ASSERT_EQ(history.size(), 1u) << "nothing is recorded of the second";
  EXPECT_EQ(history[0].at("id"), "host");
  EXPECT_EQ(history[0].at("energyMicrojoules"), 4'000'000);
  EXPECT_EQ(history[0].at("activeMicrojoules"), 3'000'000);
  EXPECT_EQ(history[0].at("idleMicrojoules"), 1'000'000);
  EXPECT_FALSE(history[0].contains("costMicro"));
}

TEST_F(HistoryOutput, CostsAndEmissionsAreThoseOfTheEnergy) {
  const Json history = history_json(
      {"vms", "u1"}, {in_euros(span(0, kHour, 0, {priced(row("u1", "web", 3'600'000'000), 320, 380)}))});
  EXPECT_EQ(history[0].at("costMicro"), 320) << "a watt-hour";
  EXPECT_EQ(history[0].at("currency"), "EUR");
  EXPECT_EQ(history[0].at("milligramsCO2e"), 380);
}

// What other programs rely on: fields may be added, but none of these may be missing or have another type.
TEST_F(HistoryOutput, JsonHasTheDocumentedFields) {
  const Json history = history_json(
      {"vms", ""}, {in_euros(span(0, kHour, 0, {priced(row("u1", "web", 3'600'000'000), 320, 380)}))});
  EXPECT_EQ(history.at(0), (Json{{"id", "u1"},
                                 {"name", "web"},
                                 {"kind", "vms"},
                                 {"fromUsec", 1'795'500'000'000'000},
                                 {"toUsec", 1'795'500'000'000'000 + kHour},
                                 {"energyMicrojoules", 3'600'000'000},
                                 {"activeMicrojoules", 3'600'000'000},
                                 {"idleMicrojoules", 0},
                                 {"recordedUsec", kHour},
                                 {"costMicro", 320},
                                 {"currency", "EUR"},
                                 {"milligramsCO2e", 380}}));
  const Json divided = report_json(report());
  for (const char* const name : {"fromUsec", "toUsec", "energyMicrojoules", "unrecordedUsec"})
    EXPECT_TRUE(divided.at(name).is_number_integer()) << name;
  std::int64_t sum = 0;
  for (const Json& row : divided.at("rows")) sum += row.at("energyMicrojoules").get<std::int64_t>();
  for (const Json& account : divided.at("accounts")) sum += account.get<std::int64_t>();
  EXPECT_EQ(divided.at("energyMicrojoules"), sum);
}

Wall line() { return *Wall::of({{"wall", {{"slope", 1.5}, {"offsetMicrowatts", 30'000'000}}}}); }

TEST_F(HistoryOutput, AtThePlugIsTheActiveEnergyTimesTheSlope) {
  const Wall wall = line();
  const std::vector<Json> spans = {span(0, kHour, 7'200'000'001)};
  const Json history = history_json({"host", ""}, spans, &wall);
  EXPECT_EQ(history[0].at("wallMicrojoules"), 8'100'000'001) << "1.5 x 5400.000001 J, rounded down";
  EXPECT_THAT(history_text({"host", ""}, spans, false, {.unicode = false}, &wall), HasSubstr("WALL"));
  EXPECT_THAT(history_csv(history), HasSubstr(",wallMicrojoules\n"));
  EXPECT_THAT(history_csv(history_json({"host", ""}, spans)), Not(HasSubstr("wallMicrojoules")));
  EXPECT_EQ(wall.energy({{"activeMicrojoules", INT64_MAX}}), std::nullopt);
  EXPECT_EQ(wall.energy({{"energyMicrojoules", 1}}), std::nullopt);
}

TEST_F(HistoryOutput, AReportAtThePlugHasTheSumOfItsRows) {
  Json reply = report();
  add_wall(reply, line());
  std::int64_t sum = 0;
  for (const Json& row : reply["rows"]) sum += row.at("wallMicrojoules").get<std::int64_t>();
  EXPECT_EQ(reply["wall"], (Json{{"quality", "modelled"}, {"rowsMicrojoules", sum}}));
  EXPECT_THAT(report_text(reply, "vm", {.unicode = false}),
              AllOf(HasSubstr("WALL"), HasSubstr("At the plug (modelled): 1800 J of these rows.")));
  EXPECT_THAT(report_csv(reply), HasSubstr(",wallMicrojoules\n"));
  EXPECT_THAT(report_text(report(), "vm", {.unicode = false}), Not(HasSubstr("WALL")));
  std::vector<fleet::Reply> replies = {{"a", {{"report", reply}}, ""}, {"b", {{"report", reply}}, ""}};
  const Json both = fleet::report_json(replies);
  EXPECT_EQ(both["wall"], (Json{{"quality", "modelled"}, {"rowsMicrojoules", 2 * sum}}));
  EXPECT_TRUE(both["rows"][0].contains("wallMicrojoules"));
}

TEST_F(HistoryOutput, AGraphIsInProportionAndWhatIsMissingIsSaid) {
  const std::string text = history_text(
      {"host", ""}, {span(0, kHour, 3'600'000'000), span(1, kHour / 2, 1'800'000'000), span(2, 0, 0)}, false,
      {.unicode = false});
  EXPECT_EQ(text,
            "host: 1.50 Wh\n"
            "\n"
            "START              ENERGY   POWER\n"
            "2026-11-24 06:00  1.00 Wh  1.00 W  ####################\n"
            "2026-11-24 07:00  0.50 Wh  1.00 W  ##########\n"
            "\n"
            "1h 30min of this time are not recorded.\n");
}

TEST_F(HistoryOutput, AKindHasTheNamesOfItsRows) {
  const std::string odd = std::string("d") + "\x1b" + "b";
  const std::string text = history_text(
      {"vms", ""},
      {in_euros(span(0, kHour, 0,
                     {priced(row("u1", "web", 1'800'000'000), 160, 190), row("u2", odd, 3'600'000'000)}))},
      false, {.unicode = false});
  EXPECT_THAT(text, HasSubstr("virtual machines: 1.50 Wh\n"));
  EXPECT_THAT(text, HasSubstr("2026-11-24 06:00  web"));
  EXPECT_THAT(text, HasSubstr("d\\x1bb"));
  EXPECT_THAT(text, HasSubstr("EUR"));
}

TEST_F(HistoryOutput, WhereNothingIsRecordedItSaysSo) {
  EXPECT_EQ(history_text({"host", ""}, {span(0, 0, 0)}, false, {}), "Nothing is recorded in this time.\n");
}

TEST_F(HistoryOutput, AReportAddsUpToTheHost) {
  EXPECT_EQ(report_text(report(), "vm", {.unicode = false}),
            "2026-11-24 06:00 to 2026-11-24 08:00\n"
            "\n"
            "VM                ENERGY    SHARE\n"
            "web              0.25 Wh   25.00%\n"
            "=db              0.08 Wh    8.33%\n"
            "Other workloads  0.17 Wh   16.67%\n"
            "Idle             0.50 Wh   50.00%\n"
            "Total            1.00 Wh  100.00%\n"
            "\n"
            "Energy of the zones that keplerd meters; a meter at the wall shows more.\n");
}

TEST_F(HistoryOutput, AReportForAnotherUserIsOfHisWorkloads) {
  Json own = report();
  own.erase("energyMicrojoules");
  own.erase("accounts");
  const std::string text = report_text(own, "vm", {.unicode = false});
  EXPECT_THAT(text, HasSubstr("Total"));
  EXPECT_THAT(text, HasSubstr("75.00%"));
  EXPECT_THAT(text, Not(HasSubstr("Idle")));
  Json with_costs = priced_report();
  for (const char* const name :
       {"energyMicrojoules", "accounts", "accountCosts", "costMicro", "milligramsCO2e"})
    with_costs.erase(name);
  EXPECT_THAT(report_text(with_costs, "vm", {.unicode = false}),
              HasSubstr("Total  1200.00 J  100.00%  0.000107 EUR  127 mgCO2e\n"));
}

TEST_F(HistoryOutput, CsvAddsUpToTheHostAndNamesAreNoFormulas) {
  EXPECT_EQ(
      report_csv(report_json(report())),
      "id,name,kind,energyMicrojoules,activeMicrojoules,idleMicrojoules,costMicro,currency,milligramsCO2e\n"
      "u1,web,vms,900000000,900000000,0,,,\n"
      "u2,'=db,vms,300000000,300000000,0,,,\n"
      "idle,,account,1800000000,,,,,\n"
      "kernel,,account,0,,,,,\n"
      "unattributed,,account,0,,,,,\n"
      "other,,account,600000000,,,,,\n");
}

TEST(HistorySubject, IsAKindAnIdOrBoth) {
  EXPECT_EQ(subject_of({})->kind, "host");
  EXPECT_EQ(subject_of({"vm"})->kind, "vms");
  EXPECT_EQ(subject_of({"web"})->id, "web");
  EXPECT_EQ(subject_of({"vm", "web"})->id, "web");
  EXPECT_EQ(subject_of({"zones"}).error().message,
            "no history of 'zones' (expected host, units, vms, containers or pods)");
  EXPECT_FALSE(subject_of({"host", "x"}));
}

TEST_F(HistoryOutput, CostsOfAReportAddUp) {
  EXPECT_EQ(report_text(priced_report(), "vm", {.unicode = false}),
            "2026-11-24 06:00 to 2026-11-24 08:00\n"
            "\n"
            "VM                ENERGY    SHARE          COST   EMISSIONS\n"
            "web              0.25 Wh   25.00%  0.000080 EUR   95 mgCO2e\n"
            "=db              0.08 Wh    8.33%  0.000027 EUR   32 mgCO2e\n"
            "Other workloads  0.17 Wh   16.67%  0.000053 EUR   63 mgCO2e\n"
            "Idle             0.50 Wh   50.00%  0.000160 EUR  190 mgCO2e\n"
            "Total            1.00 Wh  100.00%  0.000320 EUR  380 mgCO2e\n"
            "\n"
            "Energy of the zones that keplerd meters; a meter at the wall shows more.\n");
}

TEST_F(HistoryOutput, WhatIsNotExactInCostsIsSaid) {
  Json inexact = priced_report();
  inexact["meanRateUsec"] = 2 * kHour;
  inexact["noIntensityUsec"] = kHour;
  EXPECT_THAT(report_text(inexact, "vm", {.unicode = false}),
              HasSubstr("Mean rates are applied to 2h: it is not recorded when in it energy was used.\n"
                        "Emissions of 1h are not included: the carbon intensity is not known.\n"));
  inexact["noIntensityMicrojoules"] = 1'800'000'000;
  EXPECT_THAT(
      report_text(inexact, "vm", {.unicode = false}),
      HasSubstr(
          "Emissions of 1h (1800 J of the host) are not included: the carbon intensity is not known.\n"));
}

TEST_F(HistoryOutput, AMeterOfThePlatformIsShownBesideTheEnergyOfTheHost) {
  Json metered = report();
  metered["platformMicrojoules"] = 7'200'000'000;
  metered["platformMeter"] = "plug:wall:0";
  EXPECT_THAT(
      report_text(metered, "vm", {.unicode = false}),
      HasSubstr(
          "\nEnergy of the zones that keplerd meters. In the same time, plug:wall:0 counted 2.00 Wh for "
          "the whole host.\n"));
  Json hour = span(0, kHour, 3'600'000'000);
  hour["platformMicrojoules"] = 7'200'000'000;
  hour["platformMeter"] = "plug:wall:0";
  const Json history = history_json({"host", ""}, {hour, span(1, kHour, 3'600'000'000)});
  EXPECT_EQ(history[0].at("platformMicrojoules"), 7'200'000'000);
  EXPECT_FALSE(history[1].contains("platformMicrojoules"));
  EXPECT_EQ(history_text({"host", ""}, {hour, span(1, kHour, 3'600'000'000)}, false, {.unicode = false}),
            "host: 2.00 Wh\n"
            "\n"
            "START              ENERGY   POWER  PLATFORM\n"
            "2026-11-24 06:00  1.00 Wh  1.00 W   2.00 Wh  ####################\n"
            "2026-11-24 07:00  1.00 Wh  1.00 W         -  ####################\n");
}

TEST_F(HistoryOutput, TheSoftwareCarbonIntensityIsOfEnergyAndHost) {
  Json scored = priced_report();
  EXPECT_FALSE(add_intensity_score(scored, 1000)) << "without EmbodiedGrams=";
  scored["embodiedMilligramsCO2e"] = 1620;
  ASSERT_TRUE(add_intensity_score(scored, 1000));
  EXPECT_EQ(scored.at("softwareCarbonIntensity"), (Json{{"functionalUnits", 1000},
                                                        {"operationalMilligramsCO2e", 380},
                                                        {"embodiedMilligramsCO2e", 1620},
                                                        {"microgramsCO2ePerUnit", 2000}}));
  EXPECT_THAT(report_text(scored, "vm", {.unicode = false}),
              HasSubstr("Software Carbon Intensity: 2000 ugCO2e for each of 1000 functional units\n"
                        "(380 mgCO2e for energy, 1.62 gCO2e for the host).\n"));
  Json own = scored;
  own.erase("accounts");
  EXPECT_EQ(add_intensity_score(own, 1).error().message,
            "--functional-unit: the energy of the host is not shown to you");
}

TEST_F(HistoryOutput, AGraphShowsPowerAndNothingWhereNothingIsRecorded) {
  const std::vector<Json> spans = {span(0, kHour, 3'600'000'000), span(1, 0, 0),
                                   span(2, kHour / 2, 900'000'000)};
  EXPECT_EQ(history_text({"host", ""}, spans, true, {.unicode = false}),
            "host: 1.25 Wh\n"
            "\n"
            "  1.00 W |####\n"
            "         |####\n"
            "         |####\n"
            "         |####\n"
            "         |####    ####\n"
            "         |####    ####\n"
            "         |####    ####\n"
            "     0 W |####    ####\n"
            "          2026-11-24 06:00 2026-11-24 09:00\n"
            "\n"
            "1h 30min of this time are not recorded.\n");
  std::vector<Json> many;
  for (int hour = 0; hour < 1000; ++hour) many.push_back(span(hour, kHour, 3'600'000'000));
  const std::string text = history_text({"host", ""}, many, true, {.width = 80, .unicode = false});
  EXPECT_THAT(text, HasSubstr("1.00 W |##"));
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = text.find('\n', at);
    EXPECT_LE(end - at, 80u);
  }
}

}  // namespace
}  // namespace keplerd::cli::history
