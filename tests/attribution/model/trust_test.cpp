// SPDX-License-Identifier: Apache-2.0
#include "attribution/model/trust.h"

#include <cmath>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

// Errors that change their sign in each window.
double after(int windows, double learned, double pooled) {
  Trust trust;
  for (int i = 0; i < windows; ++i) trust.judge(i % 2 == 0 ? learned : -learned, pooled, 1, 1);
  return trust.value();
}

TEST(Trust, NoneBeforeTheFirstWindow) { EXPECT_EQ(Trust().value(), 0); }

TEST(Trust, FullInAFilterThatPredictsBetter) { EXPECT_EQ(after(100, 0.5, 2), 1); }

TEST(Trust, NoneInAFilterThatPredictsWorse) { EXPECT_EQ(after(100, 2, 1), 0); }

TEST(Trust, GrowsOverTheFirstMinute) {
  EXPECT_DOUBLE_EQ(after(30, 0.5, 2), 0.5);
  EXPECT_DOUBLE_EQ(after(60, 0.5, 2), 1);
}

TEST(Trust, NoneWhereErrorsLastAndNeitherFilterIsBetter) {
  Trust trust;
  for (int i = 0; i < 600; ++i) trust.judge(i / 60 % 2 == 0 ? 1 : -1, 1.1, 1, 1);
  EXPECT_EQ(trust.value(), 0);
}

TEST(Trust, HowLongErrorsLastDoesNotDependOnTheWindows) {
  const auto after_errors_of = [](double lasting, double seconds) {
    Trust trust;
    for (int i = 0; i < 1200; ++i)
      trust.judge(std::fmod(i * seconds, 2 * lasting) < lasting ? 1 : -1, 1.1, 1, seconds);
    return trust.value();
  };
  for (const double seconds : {0.5, 1.0, 5.0}) {
    EXPECT_EQ(after_errors_of(60, seconds), 0) << seconds;
    EXPECT_EQ(after_errors_of(10, seconds), 1) << seconds;
  }
}

TEST(Trust, LastingErrorsNeedHalfTheSquareOfTheOther) {
  Trust trust;
  for (int i = 0; i < 600; ++i) trust.judge(i / 60 % 2 == 0 ? 1 : -1, std::sqrt(2), 1, 1);
  EXPECT_NEAR(trust.value(), 0, 1e-9);
}

TEST(Trust, LastingErrorsDoNoHarmWhereTheFilterIsClearlyBetter) {
  Trust trust;
  for (int i = 0; i < 600; ++i) trust.judge(i / 60 % 2 == 0 ? 0.3 : -0.3, 1, 1, 1);
  EXPECT_EQ(trust.value(), 1);
}

// Errors that last, with a mean square of 0.4 of that without powers of workloads.
TEST(Trust, InMemoryIsKeptWhereErrorsLast) {
  Trust processor, memory(kMemoryTrust);
  for (int i = 0; i < 600; ++i)
    for (Trust* trust : {&processor, &memory}) trust->judge(std::sqrt(0.4), 1, 1, 1);
  EXPECT_NEAR(processor.value(), 0, 1e-9);
  EXPECT_NEAR(memory.value(), 0.5, 1e-9);
}

TEST(Trust, OneLargeErrorCountsAsABoundedOne) {
  Trust trust;
  for (int i = 0; i < 600; ++i) trust.judge(i % 2 == 0 ? 1 : -1, 2, 1, 1);
  trust.judge(1e9, 2, 1, 1);
  EXPECT_EQ(trust.value(), 1);
}

}  // namespace
}  // namespace keplerd
