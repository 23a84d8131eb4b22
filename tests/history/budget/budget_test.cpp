// SPDX-License-Identifier: Apache-2.0
#include "history/budget/budget.h"

#include <gtest/gtest.h>

namespace keplerd::history {
namespace {

std::string error_of(const std::string& text) {
  const auto budget = parse_budget(text);
  return budget ? "" : budget.error().message;
}

TEST(Budget, IsAnEnergyAPeriodAndAWorkload) {
  const auto budget = parse_budget("2kWh/day vm web");
  ASSERT_TRUE(budget);
  EXPECT_EQ(budget->limit, Microjoules{7'200'000'000'000});
  EXPECT_EQ(budget->period, Step::kDay);
  EXPECT_EQ(budget->scope, BudgetScope::kVm);
  EXPECT_EQ(budget->name, "web");
  EXPECT_EQ(budget->text, "2kWh/day vm web");
}

TEST(Budget, TheNameIsTheRestOfTheText) {
  const auto budget = parse_budget("  1.5 MJ / hour  unit  /a.slice/b c=d.service ");
  ASSERT_TRUE(budget) << budget.error().message;
  EXPECT_EQ(budget->limit, Microjoules{1'500'000'000'000});
  EXPECT_EQ(budget->name, "/a.slice/b c=d.service");
  EXPECT_EQ(budget->subject(), "unit /a.slice/b c=d.service");
}

TEST(Budget, TheHostHasNoName) {
  const auto budget = parse_budget("50kWh/month host");
  ASSERT_TRUE(budget);
  EXPECT_EQ(budget->subject(), "host");
  EXPECT_EQ(error_of("50kWh/month host web"),
            "must be ENERGY/PERIOD KIND NAME, like 2kWh/day vm web, or 50kWh/month host");
}

TEST(Budget, AnErrorSaysWhatIsExpected) {
  const std::string form = "must be ENERGY/PERIOD KIND NAME, like 2kWh/day vm web, or 50kWh/month host";
  EXPECT_EQ(error_of("2kWh"), "the period must be hour, day or month");
  EXPECT_EQ(error_of("lots/day vm web"), form);
  EXPECT_EQ(error_of("0/day vm web"), form);
  EXPECT_EQ(error_of("2kWh/5min vm web"), "the period must be hour, day or month");
  EXPECT_EQ(error_of("2kWh/day"), "the kind must be host, vm, container, pod, unit, slice or user");
  EXPECT_EQ(error_of("2kWh/day process 7"), "the kind must be host, vm, container, pod, unit, slice or user");
  EXPECT_EQ(error_of("2kWh/day vm "), form);
  EXPECT_EQ(error_of("2kWh/day vm \xff"), "must be printable UTF-8");
}

TEST(Budget, APartOfTheLimitIsRoundedUp) {
  EXPECT_EQ(part_of_limit({.limit = {1'000}}, 80), Microjoules{800});
  EXPECT_EQ(part_of_limit({.limit = {101}}, 80), Microjoules{81});
  EXPECT_EQ(part_of_limit({.limit = {101}}, 100), Microjoules{101});
  EXPECT_EQ(part_of_limit({.limit = {INT64_MAX}}, 100), Microjoules{INT64_MAX});
}

}  // namespace
}  // namespace keplerd::history
