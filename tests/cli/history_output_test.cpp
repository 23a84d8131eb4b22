// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <ctime>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/history/output.h"
#include "varlink/json.h"

namespace keplerd::cli::history {
namespace {

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
  const Rates rates{.price = MicroCurrency{320'000}, .currency = "EUR", .carbon = Micrograms{380'000'000}};
};

TEST_F(HistoryOutput, TheHostIsARowForEachSpan) {
  const Json history = history_json({"host", ""}, {span(0, kHour, 4'000'000), span(1, 0, 0)}, {});
  ASSERT_EQ(history.size(), 1u) << "nothing is recorded of the second";
  EXPECT_EQ(history[0].at("id"), "host");
  EXPECT_EQ(history[0].at("energyMicrojoules"), 4'000'000);
  EXPECT_EQ(history[0].at("activeMicrojoules"), 3'000'000);
  EXPECT_EQ(history[0].at("idleMicrojoules"), 1'000'000);
  EXPECT_FALSE(history[0].contains("costMicro"));
}

TEST_F(HistoryOutput, CostsAndEmissionsAreThoseOfTheEnergy) {
  const Json history =
      history_json({"vms", "u1"}, {span(0, kHour, 0, {row("u1", "web", 3'600'000'000)})}, rates);
  EXPECT_EQ(history[0].at("costMicro"), 320) << "a watt-hour";
  EXPECT_EQ(history[0].at("currency"), "EUR");
  EXPECT_EQ(history[0].at("milligramsCO2e"), 380);
}

TEST_F(HistoryOutput, AGraphIsInProportionAndWhatIsMissingIsSaid) {
  const std::string text = history_text(
      {"host", ""}, {span(0, kHour, 3'600'000'000), span(1, kHour / 2, 1'800'000'000), span(2, 0, 0)}, {},
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
  const std::string text = history_text({"vms", ""},
                                        {span(0, kHour, 0,
                                              {row("u1", "web", 1'800'000'000), row("u2",
                                                                                    "d\x1b"
                                                                                    "b",
                                                                                    3'600'000'000)})},
                                        rates, {.unicode = false});
  EXPECT_THAT(text, HasSubstr("virtual machines: 1.50 Wh\n"));
  EXPECT_THAT(text, HasSubstr("2026-11-24 06:00  web"));
  EXPECT_THAT(text, HasSubstr("d\\x1bb"));
  EXPECT_THAT(text, HasSubstr("EUR"));
}

TEST_F(HistoryOutput, WhereNothingIsRecordedItSaysSo) {
  EXPECT_EQ(history_text({"host", ""}, {span(0, 0, 0)}, {}, {}), "Nothing is recorded in this time.\n");
}

TEST_F(HistoryOutput, AReportAddsUpToTheHost) {
  EXPECT_EQ(report_text(report(), "vm", {}, {.unicode = false}),
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
  const std::string text = report_text(own, "vm", rates, {.unicode = false});
  EXPECT_THAT(text, HasSubstr("Total"));
  EXPECT_THAT(text, HasSubstr("75.00%"));
  EXPECT_THAT(text, Not(HasSubstr("Idle")));
  EXPECT_FALSE(report_json(own, rates).contains("costMicro"));
}

TEST_F(HistoryOutput, CsvAddsUpToTheHostAndNamesAreNoFormulas) {
  EXPECT_EQ(report_csv(report_json(report(), {})),
            "id,name,kind,energyMicrojoules,activeMicrojoules,idleMicrojoules,costMicro,currency\n"
            "u1,web,vms,900000000,900000000,0,,\n"
            "u2,'=db,vms,300000000,300000000,0,,\n"
            "idle,,account,1800000000,,,,\n"
            "kernel,,account,0,,,,\n"
            "unattributed,,account,0,,,,\n"
            "other,,account,600000000,,,,\n");
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

}  // namespace
}  // namespace keplerd::cli::history
