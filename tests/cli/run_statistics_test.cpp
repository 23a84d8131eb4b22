// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cli/run/statistics.h"

namespace keplerd::cli::run {
namespace {

TEST(Statistics, MeanAndVarianceOfASample) {
  const Sample sample = sample_of({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(sample.count, 8u);
  EXPECT_DOUBLE_EQ(sample.mean, 5);
  EXPECT_DOUBLE_EQ(sample.variance, 32.0 / 7);
  EXPECT_DOUBLE_EQ(*stdev_percent(sample_of({90, 110})), 14.142135623730951);
}

TEST(Statistics, OneValueHasNoDeviation) {
  EXPECT_EQ(stdev_percent(sample_of({5})), std::nullopt);
  EXPECT_EQ(stdev_percent(sample_of({})), std::nullopt);
  EXPECT_EQ(stdev_percent(sample_of({0, 0})), std::nullopt);
}

// Values of tables of the distribution.
TEST(Statistics, StudentsDistribution) {
  EXPECT_NEAR(student_probability(0, 5), 1, 1e-12);
  EXPECT_NEAR(student_probability(1, 1), 0.5, 1e-12);
  EXPECT_NEAR(student_probability(2.570581835636314, 5), 0.05, 1e-12);
  EXPECT_NEAR(student_probability(-2.570581835636314, 5), 0.05, 1e-12);
  EXPECT_NEAR(student_probability(2.042272456301238, 30), 0.05, 1e-12);
  EXPECT_NEAR(student_probability(12.923978636687, 3), 0.001, 1e-12);
}

// Checked by integrating the density: t = -2.85295, 27.8873 degrees of freedom.
TEST(Statistics, WelchsTest) {
  const Sample a =
      sample_of({27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4});
  const Sample b =
      sample_of({27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 24.4});
  EXPECT_NEAR(*welch_probability(a, b), 0.008071938172113, 1e-12);
  EXPECT_DOUBLE_EQ(*welch_probability(a, b), *welch_probability(b, a));
}

TEST(Statistics, WelchsTestNeedsTwoOfEach) {
  EXPECT_EQ(welch_probability(sample_of({1}), sample_of({1, 2})), std::nullopt);
  EXPECT_EQ(welch_probability(sample_of({1, 2}), sample_of({1})), std::nullopt);
}

TEST(Statistics, SeriesWithoutNoiseDifferOrDoNot) {
  EXPECT_EQ(welch_probability(sample_of({1, 1}), sample_of({1, 1})), 1.0);
  EXPECT_EQ(welch_probability(sample_of({1, 1}), sample_of({2, 2})), 0.0);
}

}  // namespace
}  // namespace keplerd::cli::run
