// SPDX-License-Identifier: Apache-2.0
#include "history/budget/unit_name.h"

#include <gtest/gtest.h>

#include "history/budget/reporter.h"

namespace keplerd::history {
namespace {

// systemd-escape 'vm web 1' and so on.
TEST(BudgetService, IsNamedAsSystemdEscapeDoes) {
  EXPECT_EQ(budget_service({.scope = BudgetScope::kVm, .name = "web 1"}),
            R"(keplerd-budget@vm\x20web\x201.service)");
  EXPECT_EQ(escape_unit_name("unit /a.slice/b-c.service"), R"(unit\x20-a.slice-b\x2dc.service)");
  EXPECT_EQ(escape_unit_name(".hidden"), R"(\x2ehidden)");
  EXPECT_EQ(escape_unit_name("caf\xc3\xa9"), R"(caf\xc3\xa9)");
  EXPECT_EQ(escape_unit_name("host"), "host");
}

TEST(BudgetService, HasTheBudgetInItsEnvironment) {
  const BudgetUse use{*parse_budget(R"(1J/day vm a"b$(c)`\)"), {}, {900'000}, ""};
  EXPECT_EQ(budget_environment(use, 80),
            "KEPLERD_BUDGET=\"1J/day vm a\\\"b\\$(c)\\`\\\\\"\n"
            "KEPLERD_BUDGET_SUBJECT=\"vm a\\\"b\\$(c)\\`\\\\\"\n"
            "KEPLERD_BUDGET_NAME=\"a\\\"b\\$(c)\\`\\\\\"\n"
            "KEPLERD_BUDGET_PERIOD=day\n"
            "KEPLERD_BUDGET_PERCENT=80\n"
            "KEPLERD_BUDGET_USED_MICROJOULES=900000\n"
            "KEPLERD_BUDGET_LIMIT_MICROJOULES=1000000\n");
}

TEST(BudgetCrossing, IsReportedInTheUnitOfItsSize) {
  EXPECT_EQ(crossing_message({*parse_budget("2kWh/day vm web"), {}, {5'760'000'000'000}, ""}, 80),
            "budget 2kWh/day vm web: 80 % used (1.600 of 2.000 kWh)");
  EXPECT_EQ(crossing_message({*parse_budget("100J/hour host"), {}, {101'500'000}, ""}, 100),
            "budget 100J/hour host: 100 % used (101.500 of 100.000 J)");
}

}  // namespace
}  // namespace keplerd::history
