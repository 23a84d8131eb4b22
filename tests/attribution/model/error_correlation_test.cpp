// SPDX-License-Identifier: Apache-2.0
#include "attribution/model/error_correlation.h"

#include <cmath>
#include <functional>
#include <random>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

double after(int windows, double seconds, const std::function<double(double now)>& error) {
  ErrorCorrelation correlation;
  double inflation = 0;
  for (int i = 0; i < windows; ++i) inflation = correlation.inflation(error(i * seconds), seconds);
  return inflation;
}

TEST(ErrorCorrelation, OneErrorSaysWhatItSays) { EXPECT_EQ(ErrorCorrelation().inflation(3, 1), 1); }

TEST(ErrorCorrelation, NoErrorIsCorrelatedWithNothing) {
  EXPECT_EQ(after(100, 1, [](double) { return 0.0; }), 1);
}

TEST(ErrorCorrelation, ErrorsThatLastForeverInflateMost) {
  EXPECT_EQ(after(1200, 1, [](double) { return 2.0; }), 60);
}

// The mean over windows of `seconds` whose errors are e^-1 of themselves after `lasting` seconds.
double mean_inflation(double lasting, double seconds) {
  std::mt19937 random(1);
  const double kept = std::exp(-seconds / lasting);
  std::normal_distribution<double> normal(0, std::sqrt(1 - kept * kept));
  ErrorCorrelation correlation;
  double sum = 0, error = 0;
  constexpr int kWindows = 20'000;
  for (int i = 0; i < kWindows; ++i)
    sum += correlation.inflation(error = kept * error + normal(random), seconds);
  return sum / kWindows;
}

// After 20 s, of which the lag is half: 1 - 2 * 10 / ln(e^-0.5) = 41 windows of a second say as much as one.
TEST(ErrorCorrelation, InflatesByHowLongErrorsLast) {
  EXPECT_LT(mean_inflation(0.1, 1), 3);
  EXPECT_NEAR(mean_inflation(20, 1), 41, 8);
}

// 1 - 2 * 2 / ln(e^-0.5) = 9 windows of five.
TEST(ErrorCorrelation, TheLagIsATime) { EXPECT_NEAR(mean_inflation(20, 5), 9, 2); }

}  // namespace
}  // namespace keplerd
