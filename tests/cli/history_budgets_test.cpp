// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <ctime>

#include <gtest/gtest.h>

#include "cli/history/budgets.h"
#include "varlink/json.h"

namespace keplerd::cli::history {
namespace {

using namespace std::chrono_literals;
using varlink::Json;

constexpr Time kMidnight = std::chrono::seconds(1'795'478'400);  // 2026-11-24

class BudgetsOutput : public testing::Test {
 protected:
  BudgetsOutput() {
    ::setenv("TZ", "UTC0", 1);
    ::tzset();
  }
  ~BudgetsOutput() override {
    ::unsetenv("TZ");
    ::tzset();
  }

  // Of a day.
  static Json budget(const char* subject, std::int64_t used) {
    return {{"budget", std::string("1kWh/day ") + subject},
            {"subject", subject},
            {"limitMicrojoules", 3'600'000'000'000},
            {"usedMicrojoules", used},
            {"fromUsec", kMidnight.count()},
            {"toUsec", (kMidnight + 24h).count()}};
  }
  static Json shown(Json one, Time now) {
    return budgets_json({{"budgets", Json::array({std::move(one)})}}, now).at(0);
  }
};

TEST_F(BudgetsOutput, AreUsedUpWhenTheyAreUsedAsBefore) {
  const Json half = shown(budget("host", 1'800'000'000'000), kMidnight + 8h);
  EXPECT_EQ(half.at("percentUsed"), 50);
  EXPECT_EQ(half.at("usedUpUsec"), (kMidnight + 16h).count());
  EXPECT_FALSE(shown(budget("host", 1'800'000'000'000), kMidnight + 12h).contains("usedUpUsec"))
      << "at the end of the day, not in it";
  EXPECT_FALSE(shown(budget("host", 3'600'000'000'000), kMidnight + 8h).contains("usedUpUsec")) << "they are";
  EXPECT_FALSE(shown(budget("host", 1'800'000'000'000), kMidnight + 14min).contains("usedUpUsec"))
      << "too little is over to know";
  EXPECT_FALSE(shown(budget("host", 0), kMidnight + 8h).contains("usedUpUsec"));
}

TEST_F(BudgetsOutput, ATableHasThemAllAndWhatIsWrong) {
  Json unknown = budget("user alice", 0);
  unknown.erase("usedMicrojoules");
  unknown["problem"] = "there is no such user";
  const Json budgets = budgets_json({{"budgets", Json::array({budget("vm web", 1'800'000'000'000),
                                                              budget("host", 7'200'000'000'000), unknown})}},
                                    kMidnight + 8h);
  EXPECT_EQ(budgets_text(budgets, {}),
            "BUDGET                   USED     LIMIT  PERCENT  USED UP\n"
            "1kWh/day vm web        500 Wh  1.00 kWh     50 %  about 2026-11-24 16:00\n"
            "1kWh/day host        2.00 kWh  1.00 kWh    200 %  yes\n"
            "1kWh/day user alice         -  1.00 kWh        -  -\n"
            "\n1kWh/day user alice: there is no such user\n");
  EXPECT_EQ(budgets_csv(budgets).substr(0, budgets_csv(budgets).find('\n')),
            "budget,subject,usedMicrojoules,limitMicrojoules,percentUsed,fromUsec,toUsec,usedUpUsec,problem");
}

TEST_F(BudgetsOutput, WithoutAnyItIsSaidWhereTheyAreSet) {
  EXPECT_EQ(budgets_text(budgets_json(Json::object(), kMidnight), {}),
            "There are no budgets (Budget=, see keplerd-history(8)).\n");
}

TEST_F(BudgetsOutput, OfNonsenseNothingIsComputed) {
  for (const Json& nonsense : {Json{{"budgets", 1}}, Json{{"budgets", {1, "x", nullptr}}}})
    EXPECT_NO_THROW(budgets_text(budgets_json(nonsense, kMidnight), {}));
  Json odd = budget("host", -5);
  odd["limitMicrojoules"] = 0;
  EXPECT_FALSE(shown(odd, kMidnight + 8h).contains("percentUsed"));
}

}  // namespace
}  // namespace keplerd::cli::history
