// SPDX-License-Identifier: Apache-2.0
#include "cli/output/column_unit.h"

#include <limits>

#include <gtest/gtest.h>

namespace keplerd::cli {
namespace {

TEST(ColumnUnit, IsThatOfTheLargestAmount) {
  const ColumnUnit watts(Quantity::kPower, 19'400'000);
  EXPECT_EQ(watts.text(19'400'000), "19.40 W");
  EXPECT_EQ(watts.text(500'000), "0.50 W");
  EXPECT_EQ(watts.text(0), "0.00 W");
  EXPECT_EQ(watts.number(500'000), "0.50");
}

TEST(ColumnUnit, WhatWouldBeZeroButIsNotIsMarked) {
  const ColumnUnit watts(Quantity::kPower, 1'000'000);
  EXPECT_EQ(watts.text(4'999), "<0.01 W");
  EXPECT_EQ(watts.text(5'000), "0.01 W");
  EXPECT_EQ(watts.text(1), "<0.01 W");
  EXPECT_EQ(watts.text(-1), "-");
}

TEST(ColumnUnit, ChangesWhereTheRoundedLargestAmountReachesTheNext) {
  const auto itself = [](Quantity quantity, std::int64_t amount) {
    return ColumnUnit(quantity, amount).text(amount);
  };
  EXPECT_EQ(itself(Quantity::kPower, 999), "999 uW");
  EXPECT_EQ(itself(Quantity::kPower, 1'000), "1.00 mW");
  EXPECT_EQ(itself(Quantity::kPower, 999'994), "999.99 mW");
  EXPECT_EQ(itself(Quantity::kPower, 999'995), "1.00 W");
  EXPECT_EQ(itself(Quantity::kEnergy, 3'599'994'999), "3599.99 J");
  EXPECT_EQ(itself(Quantity::kEnergy, 3'599'995'000), "1.00 Wh");
  EXPECT_EQ(itself(Quantity::kTime, 7'500'000'000), "7500.00 s");
  EXPECT_EQ(itself(Quantity::kTime, 36'000'000'000), "10.00 h");
  EXPECT_EQ(itself(Quantity::kTime, 86'400'000'000 * 1000), "1000.00 d");
  EXPECT_EQ(itself(Quantity::kPower, std::numeric_limits<std::int64_t>::max()), "9.22 TW");
}

TEST(ColumnUnit, OfZerosIsTheWholeUnit) {
  EXPECT_EQ(ColumnUnit(Quantity::kPower, 0).text(0), "0.00 W");
  EXPECT_EQ(ColumnUnit(Quantity::kEnergy, 0).text(0), "0.00 J");
  EXPECT_EQ(ColumnUnit(Quantity::kTime, -1).text(0), "0.00 s");
}

TEST(ColumnUnit, PercentagesHaveTwoDecimals) {
  EXPECT_EQ(format_percent(1, 8), "12.50%");
  EXPECT_EQ(format_percent(1, 1), "100.00%");
  EXPECT_EQ(format_percent(1, 1'000'000), "<0.01%");
  EXPECT_EQ(format_percent(0, 1), "0.00%");
  EXPECT_EQ(format_percent(999'999, 1'000'000), "100.00%");
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(format_percent(kMost / 2, kMost), "50.00%");
  EXPECT_EQ(format_percent(1, 0), "-");
  EXPECT_EQ(format_percent(-1, 1), "-");
}

}  // namespace
}  // namespace keplerd::cli
